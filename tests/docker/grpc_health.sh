#!/bin/sh
# A gRPC health server on port 9000 out of busybox alone: it reads HTTP/2 frames and answers with fixed ones.
# Service "" is NOT_SERVING for 4 s and then SERVING; "live" is SERVING for 10 s and then NOT_SERVING.

frame() { # type flags payload: writes one frame of the stream, all in hexadecimal
  printf '%06x%s%s%s%s' $((${#3} / 2)) "$1" "$2" "$stream" "$3" | xxd -r -p
}

take() { # count: reads so many bytes, as hexadecimal
  dd bs=1 count="$1" 2>/dev/null | xxd -p | tr -d '\n'
}

age() { # seconds since the server began
  read -r up _ </proc/uptime
  echo $((${up%.*} - $(cat /tmp/began)))
}

answer() {
  stream=00000000
  frame 04 00 ''
  take 24 >/dev/null # the client's preface
  while head=$(take 9) && [ ${#head} = 18 ]; do
    body=$(take $((0x${head%????????????})))
    case $head in
    ??????040000000000) frame 04 01 '' ;;
    ??????00*)
      stream=${head#??????????}
      status=2
      case $body in
      *6c697665) [ "$(age)" -lt 10 ] && status=1 ;;
      *) [ "$(age)" -ge 4 ] && status=1 ;;
      esac
      frame 01 04 880f10106170706c69636174696f6e2f67727063 # :status 200, content-type application/grpc
      frame 00 00 0000000002080$status
      frame 01 05 000b677270632d7374617475730130 # grpc-status 0
      stream=00000000
      ;;
    esac
  done
}

if [ "$1" = answer ]; then
  answer
  exit
fi
trap 'exit 0' TERM
read -r up _ </proc/uptime
echo "${up%.*}" >/tmp/began
echo Started
nc -ll -p 9000 -e /bin/sh "$0" answer &
wait

// The helper of every pod: waits as PID 1, relays one connection, or listens once. No libc, Linux system calls only.
//
//   /pause          reap orphans, end with 0 on TERM or INT
//   /pause r        read a sockaddr (28 bytes) from stdin, connect, write the errno as one byte, then copy both ways
//   /pause l        read a sockaddr (28 bytes) from stdin, listen on it, write the errno as one byte, accept once, end
//   /pause d P...   remove each path, an empty folder too, and end
//   /pause w P TEXT [P TEXT]...
//                   put each text into its file P that is there, and end; 1 when one can't be opened, 2 when one refuses it
    .globl _start
_start:
    ldr     x0, [sp]
    cmp     x0, #1
    b.gt    command

// SIGCHLD ignored: the kernel reaps orphans by itself. TERM and INT blocked and waited for: a blocked signal reaches
// PID 1 even without a handler.
    mov     x8, #134                    // rt_sigaction(SIGCHLD, SIG_IGN)
    mov     x0, #17
    adr     x1, ignore
    mov     x2, #0
    mov     x3, #8
    svc     #0
    mov     x8, #135                    // rt_sigprocmask(SIG_BLOCK, {INT, TERM})
    mov     x0, #0
    adr     x1, stops
    mov     x2, #0
    mov     x3, #8
    svc     #0
wait:
    mov     x8, #137                    // rt_sigtimedwait({INT, TERM}, no info, for ever)
    adr     x0, stops
    mov     x1, #0
    mov     x2, #0
    mov     x3, #8
    svc     #0
    cmp     x0, #0
    b.le    wait
    mov     x0, #0
    b       leave

command:
    ldr     x19, [sp, #16]              // argv[1]
    ldrb    w19, [x19]
    cmp     w19, #'d'
    b.eq    remove
    cmp     w19, #'w'
    b.eq    rewrite
    sub     sp, sp, #32768
    mov     x20, sp                     // buffer
    mov     x21, #0                     // bytes of the address so far
address:
    mov     x8, #63                     // read(stdin)
    mov     x0, #0
    add     x1, x20, x21
    mov     x2, #28
    sub     x2, x2, x21
    svc     #0
    cmp     x0, #0
    b.le    broken
    add     x21, x21, x0
    cmp     x21, #28
    b.lt    address
    mov     x8, #198                    // socket(family, SOCK_STREAM, 0)
    ldrh    w0, [x20]
    mov     x1, #1
    mov     x2, #0
    svc     #0
    cmp     x0, #0
    b.lt    answer
    mov     x22, x0                     // the socket
    mov     x8, #203                    // connect
    cmp     w19, #'l'
    b.ne    reach
    mov     x8, #200                    // bind
reach:
    mov     x0, x22
    mov     x1, x20
    mov     x2, #28
    svc     #0
    cmp     x0, #0
    b.lt    answer
    cmp     w19, #'l'
    b.ne    answer
    mov     x8, #201                    // listen(1)
    mov     x0, x22
    mov     x1, #1
    svc     #0
answer:
    neg     x23, x0
    strb    w23, [x20]
    mov     x8, #64                     // write(stdout, errno)
    mov     x0, #1
    mov     x1, x20
    mov     x2, #1
    svc     #0
    cbnz    x23, broken
    cmp     w19, #'l'
    b.ne    relay
    mov     x8, #242                    // accept4
    mov     x0, x22
    mov     x1, #0
    mov     x2, #0
    mov     x3, #0
    svc     #0
    mov     x0, #0
    b       leave

remove:
    add     x20, sp, #24                // argv[2]
next:
    ldr     x1, [x20]
    mov     x0, #0
    cbz     x1, leave
    mov     x8, #35                     // unlinkat(AT_FDCWD, path, 0)
    mov     x0, #-100
    mov     x2, #0
    svc     #0
    cmp     x0, #0
    b.ge    removed
    mov     x8, #35                     // unlinkat(AT_FDCWD, path, AT_REMOVEDIR)
    mov     x0, #-100
    ldr     x1, [x20]
    mov     x2, #0x200
    svc     #0
removed:
    add     x20, x20, #8
    b       next

rewrite:
    add     x24, sp, #24                // argv[2]
file:
    ldr     x1, [x24]
    mov     x0, #0
    cbz     x1, leave
    mov     x8, #56                     // openat(AT_FDCWD, path, O_WRONLY)
    mov     x0, #-100
    mov     x2, #1
    svc     #0
    cmp     x0, #0
    b.lt    broken
    mov     x22, x0                     // the file
    ldr     x1, [x24, #8]               // its text
    mov     x23, #0                     // the text's length
measure:
    ldrb    w3, [x1, x23]
    cbz     w3, measured
    add     x23, x23, #1
    b       measure
measured:
    mov     x8, #64                     // write: the new text first, so that the file is never empty
    mov     x0, x22
    mov     x2, x23
    svc     #0
    mov     x3, x0
    mov     x0, #2
    cmp     x3, #0
    b.lt    leave
    mov     x8, #46                     // ftruncate
    mov     x0, x22
    mov     x1, x23
    svc     #0
    add     x24, x24, #16
    b       file

relay:
    mov     x8, #220                    // clone(SIGCHLD): the child carries stdin to the socket
    mov     x0, #17
    mov     x1, #0
    mov     x2, #0
    mov     x3, #0
    mov     x4, #0
    svc     #0
    cmp     x0, #0
    b.lt    broken
    b.eq    upwards
    mov     x23, x0                     // the parent carries the socket to stdout, and ends the child
    mov     x24, x22
    mov     x25, #1
    bl      copy
    mov     x8, #129                    // kill(child, SIGKILL)
    mov     x0, x23
    mov     x1, #9
    svc     #0
    mov     x0, #0
    b       leave
upwards:
    mov     x24, #0
    mov     x25, x22
    bl      copy
    mov     x8, #210                    // shutdown(socket, SHUT_WR)
    mov     x0, x22
    mov     x1, #1
    svc     #0
    mov     x0, #0
    b       leave

// Copy from descriptor x24 to x25 until the end of either.
copy:
    mov     x8, #63                     // read
    mov     x0, x24
    mov     x1, x20
    mov     x2, #32768
    svc     #0
    cmp     x0, #0
    b.le    done
    mov     x26, x0
    mov     x27, x20
more:
    mov     x8, #64                     // write
    mov     x0, x25
    mov     x1, x27
    mov     x2, x26
    svc     #0
    cmp     x0, #0
    b.le    done
    add     x27, x27, x0
    subs    x26, x26, x0
    b.ne    more
    b       copy
done:
    ret

broken:
    mov     x0, #1
leave:
    mov     x8, #94                     // exit_group
    svc     #0

    .balign 8
ignore:
    .quad   1, 0, 0, 0                  // handler SIG_IGN, flags, restorer, mask
stops:
    .quad   0x4002                      // SIGINT, SIGTERM

# The helper of every pod: waits as PID 1, relays one connection, or listens once. No libc, Linux system calls only.
#
#   /pause          reap orphans, end with 0 on TERM or INT
#   /pause r        read a sockaddr (28 bytes) from stdin, connect, write the errno as one byte, then copy both ways
#   /pause l        read a sockaddr (28 bytes) from stdin, listen on it, write the errno as one byte, accept once, end
#   /pause d P...   remove each path, an empty folder too, and end
#   /pause w P TEXT [P TEXT]...
#                   put each text into its file P that is there, and end; 1 when one can't be opened, 2 when one refuses it
    .intel_syntax noprefix
    .globl _start
_start:
    cmp     dword ptr [rsp], 1
    jg      command

# SIGCHLD ignored: the kernel reaps orphans by itself. TERM and INT blocked and waited for: a blocked signal reaches
# PID 1 even without a handler.
    mov     eax, 13                     # rt_sigaction(SIGCHLD, SIG_IGN)
    mov     edi, 17
    lea     rsi, [rip + ignore]
    xor     edx, edx
    mov     r10d, 8
    syscall
    mov     eax, 14                     # rt_sigprocmask(SIG_BLOCK, {INT, TERM})
    xor     edi, edi
    lea     rsi, [rip + stops]
    syscall
wait:
    mov     eax, 128                    # rt_sigtimedwait({INT, TERM}, no info, for ever)
    lea     rdi, [rip + stops]
    xor     esi, esi
    xor     edx, edx
    mov     r10d, 8
    syscall
    test    eax, eax
    jle     wait
    xor     edi, edi
    jmp     leave

command:
    mov     rbx, [rsp + 16]             # argv[1]
    mov     bl, [rbx]
    cmp     bl, 'd'
    je      remove
    cmp     bl, 'w'
    je      rewrite
    sub     rsp, 32768
    mov     r12, rsp                    # buffer
    xor     r13d, r13d                  # bytes of the address so far
address:
    xor     eax, eax                    # read(stdin)
    xor     edi, edi
    lea     rsi, [r12 + r13]
    mov     edx, 28
    sub     edx, r13d
    syscall
    test    rax, rax
    jle     broken
    add     r13d, eax
    cmp     r13d, 28
    jl      address
    mov     eax, 41                     # socket(family, SOCK_STREAM, 0)
    movzx   edi, word ptr [r12]
    mov     esi, 1
    xor     edx, edx
    syscall
    test    eax, eax
    js      answer
    mov     ebp, eax                    # the socket
    mov     eax, 42                     # connect
    cmp     bl, 'l'
    jne     reach
    mov     eax, 49                     # bind
reach:
    mov     edi, ebp
    mov     rsi, r12
    mov     edx, 28
    syscall
    test    eax, eax
    js      answer
    cmp     bl, 'l'
    jne     answer
    mov     eax, 50                     # listen(1)
    mov     edi, ebp
    mov     esi, 1
    syscall
answer:
    neg     eax
    mov     r14d, eax
    mov     [r12], al
    mov     eax, 1                      # write(stdout, errno)
    mov     edi, 1
    mov     rsi, r12
    mov     edx, 1
    syscall
    test    r14d, r14d
    jnz     broken
    cmp     bl, 'l'
    jne     relay
    mov     eax, 288                    # accept4
    mov     edi, ebp
    xor     esi, esi
    xor     edx, edx
    xor     r10d, r10d
    syscall
    xor     edi, edi
    jmp     leave

remove:
    lea     r12, [rsp + 24]             # argv[2]
next:
    mov     rsi, [r12]
    xor     edi, edi
    test    rsi, rsi
    jz      leave
    mov     eax, 263                    # unlinkat(AT_FDCWD, path, 0)
    mov     edi, -100
    xor     edx, edx
    syscall
    test    eax, eax
    jns     removed
    mov     eax, 263                    # unlinkat(AT_FDCWD, path, AT_REMOVEDIR)
    mov     edi, -100
    mov     rsi, [r12]
    mov     edx, 0x200
    syscall
removed:
    add     r12, 8
    jmp     next

rewrite:
    lea     r13, [rsp + 24]             # argv[2]
file:
    mov     rsi, [r13]
    xor     edi, edi
    test    rsi, rsi
    jz      leave
    mov     eax, 257                    # openat(AT_FDCWD, path, O_WRONLY)
    mov     edi, -100
    mov     edx, 1
    syscall
    test    eax, eax
    js      broken
    mov     ebp, eax                    # the file
    mov     rsi, [r13 + 8]              # its text
    xor     edx, edx                    # the text's length
measure:
    cmp     byte ptr [rsi + rdx], 0
    je      measured
    inc     rdx
    jmp     measure
measured:
    mov     r12, rdx
    mov     eax, 1                      # write: the new text first, so that the file is never empty
    mov     edi, ebp
    syscall
    mov     edi, 2
    test    rax, rax
    js      leave
    mov     eax, 77                     # ftruncate
    mov     edi, ebp
    mov     rsi, r12
    syscall
    add     r13, 16
    jmp     file

relay:
    mov     eax, 56                     # clone(SIGCHLD): the child carries stdin to the socket
    mov     edi, 17
    xor     esi, esi
    xor     edx, edx
    xor     r10d, r10d
    xor     r8d, r8d
    syscall
    test    eax, eax
    js      broken
    jz      upwards
    mov     r14d, eax                   # the parent carries the socket to stdout, and ends the child
    mov     r13d, ebp
    mov     r15d, 1
    call    copy
    mov     eax, 62                     # kill(child, SIGKILL)
    mov     edi, r14d
    mov     esi, 9
    syscall
    xor     edi, edi
    jmp     leave
upwards:
    xor     r13d, r13d
    mov     r15d, ebp
    call    copy
    mov     eax, 48                     # shutdown(socket, SHUT_WR)
    mov     edi, ebp
    mov     esi, 1
    syscall
    xor     edi, edi
    jmp     leave

# Copy from descriptor r13 to r15 until the end of either.
copy:
    xor     eax, eax                    # read
    mov     edi, r13d
    mov     rsi, r12
    mov     edx, 32768
    syscall
    test    rax, rax
    jle     done
    mov     rbx, rax
    mov     r8, r12
more:
    mov     eax, 1                      # write
    mov     edi, r15d
    mov     rsi, r8
    mov     rdx, rbx
    syscall
    test    rax, rax
    jle     done
    add     r8, rax
    sub     rbx, rax
    jnz     more
    jmp     copy
done:
    ret

broken:
    mov     edi, 1
leave:
    mov     eax, 231                    # exit_group
    syscall

    .balign 8
ignore:
    .quad   1, 0, 0, 0                  # handler SIG_IGN, flags, restorer, mask
stops:
    .quad   0x4002                      # SIGINT, SIGTERM

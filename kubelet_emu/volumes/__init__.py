"""What each volume source contains; the runtime puts it there."""

//! Writing what several threads make, in the order of its pieces.

use std::io::{self, Write};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Work that comes in pieces, and a stream that each piece is written to in its turn.
///
/// Pieces are handed out in order, so that the thread with the earliest one never waits: it writes as it goes. The others
/// wait when what they have made is as much as they may hold, or when they are done.
pub(super) struct InTurn<W, I> {
    pieces: Mutex<(I, usize)>,
    writing: Mutex<Writing<W>>,
    turn: Condvar,
}

struct Writing<W> {
    out: W,
    /// The piece whose turn it is.
    piece: usize,
    /// What ended it all.
    failed: Option<io::Error>,
}

/// Writing has failed: there is nothing left to do.
#[derive(Debug)]
pub(super) struct Over;

impl<W: Write, I: Iterator> InTurn<W, I> {
    pub fn new(out: W, pieces: I) -> Self {
        InTurn {
            pieces: Mutex::new((pieces, 0)),
            writing: Mutex::new(Writing { out, piece: 0, failed: None }),
            turn: Condvar::new(),
        }
    }

    /// The next piece of work, with its number.
    pub fn next(&self) -> Option<(usize, I::Item)> {
        let mut pieces = self.pieces.lock().unwrap_or_else(PoisonError::into_inner);
        let piece = pieces.0.next()?;
        pieces.1 += 1;
        Some((pieces.1 - 1, piece))
    }

    /// Writes what was made of a piece so far, once it is the turn of the piece, and empties the buffer.
    pub fn write(&self, piece: usize, made: &mut Vec<u8>) -> Result<(), Over> {
        self.write_in_turn(piece, made).map(drop)
    }

    /// Writes the rest of what was made of a piece, and gives the turn to the next.
    pub fn finish(&self, piece: usize, made: &mut Vec<u8>) -> Result<(), Over> {
        self.write_in_turn(piece, made)?.piece += 1;
        self.turn.notify_all();
        Ok(())
    }

    fn write_in_turn(&self, piece: usize, made: &mut Vec<u8>) -> Result<MutexGuard<'_, Writing<W>>, Over> {
        let writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let waits = |writing: &mut Writing<W>| writing.failed.is_none() && writing.piece != piece;
        let mut writing = self.turn.wait_while(writing, waits).unwrap_or_else(PoisonError::into_inner);
        if writing.failed.is_some() {
            return Err(Over);
        }
        if let Err(error) = writing.out.write_all(made) {
            writing.failed = Some(error);
            self.turn.notify_all();
            return Err(Over);
        }
        made.clear();
        Ok(writing)
    }

    /// The first error of the stream, if there was one. To be asked when all threads are done.
    pub fn result(self) -> io::Result<()> {
        let writing = self.writing.into_inner().unwrap_or_else(PoisonError::into_inner);
        writing.failed.map_or(Ok(()), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes so many bytes.
    struct Narrow {
        taken: Vec<u8>,
        room: usize,
    }

    impl Write for Narrow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let fits = bytes.len().min(self.room - self.taken.len());
            if fits == 0 && !bytes.is_empty() {
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.taken.extend_from_slice(&bytes[..fits]);
            Ok(fits)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Pieces of 0, 1, 2, … bytes, each the number of its piece, made by several threads, some of it written early.
    fn written(threads: usize, room: usize) -> (Vec<u8>, io::Result<()>) {
        let mut out = Narrow { taken: Vec::new(), room };
        let pieces = InTurn::new(&mut out, 0..100u8);
        let work = || {
            let mut made = Vec::new();
            while let Some((number, piece)) = pieces.next() {
                for i in 0..piece {
                    made.push(piece);
                    if i % 7 == 6 && pieces.write(number, &mut made).is_err() {
                        return;
                    }
                }
                if pieces.finish(number, &mut made).is_err() {
                    return;
                }
            }
        };
        std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
        let result = pieces.result();
        (out.taken, result)
    }

    #[test]
    fn pieces_come_in_order_whoever_makes_them() {
        let expected: Vec<u8> = (0..100u8).flat_map(|piece| std::iter::repeat_n(piece, piece.into())).collect();
        for threads in [1, 2, 5] {
            let (taken, result) = written(threads, usize::MAX);
            assert!(result.is_ok() && taken == expected, "{threads} threads");
        }
    }

    #[test]
    fn what_cannot_be_written_ends_it_for_all() {
        let (all, _) = written(1, usize::MAX);
        for (threads, room) in [(1, 0), (2, 1), (5, 1000), (3, all.len() - 1)] {
            let (taken, result) = written(threads, room);
            assert_eq!(result.unwrap_err().kind(), io::ErrorKind::StorageFull);
            assert!(taken == all[..room], "{threads} threads, {room} bytes");
        }
    }
}

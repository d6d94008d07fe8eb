//! Gives memory that the allocator holds and nobody uses back to the system.
//!
//! The GNU allocator returns pages by itself only from the top of its arenas, and one small block that lives there keeps
//! all that is below. After a crowd has left a process keeps several times what it needs, until it is asked to look
//! everywhere. That is one C function, and the reason why this is a crate of its own: all others forbid unsafe code.

#![warn(missing_docs)]

/// Returns the pages of free blocks to the system, in all arenas; whether any were returned. `false` where the allocator
/// is not the GNU one. It takes about a millisecond for each ten megabytes of free blocks, during which other threads
/// that allocate may wait.
pub fn give_back() -> bool {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        // SAFETY: the function takes the locks of the allocator itself, may be called from any thread at any time, and
        // touches no block that is in use. It has no preconditions; 0 is how much is to be kept at the top of the heap.
        #[expect(unsafe_code, reason = "a foreign function; there is no safe wrapper of it")]
        let returned = unsafe { libc::malloc_trim(0) };
        returned == 1
    }
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    false
}

#[cfg(all(test, target_os = "linux", target_env = "gnu"))]
mod tests {
    /// Pages that are resident.
    fn resident() -> usize {
        let text = std::fs::read_to_string("/proc/self/statm").expect("statm");
        text.split(' ').nth(1).and_then(|pages| pages.parse().ok()).expect("a number")
    }

    // Proves that free memory below a block that lives is given back: of 64 MiB in small blocks, freed but for the last,
    // three quarters at least leave the process, and what lives is as it was.
    #[test]
    fn free_blocks_below_a_live_one_are_given_back() {
        let mut blocks: Vec<Box<[u8]>> = (0..65_536).map(|i| vec![(i % 251) as u8; 1024].into()).collect();
        let full = resident();
        let last = blocks.pop().expect("blocks");
        drop(blocks);
        assert!(super::give_back());
        let left = resident();
        assert!(full - left > (48 << 20) / 4096, "{full} pages before, {left} after");
        assert!(last.iter().all(|byte| usize::from(*byte) == 65_535 % 251));
    }
}

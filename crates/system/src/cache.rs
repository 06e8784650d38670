//! What the processor holds near.

/// Bytes that a processor fetches at once.
const CACHE_LINE_BYTES: usize = 64;

/// Has the processor fetch a value that is soon needed, without waiting for it. Only on x86-64.
#[inline]
#[allow(unsafe_code)]
pub fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    for offset in (0..size_of::<T>()).step_by(CACHE_LINE_BYTES) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: the place lies within the value, and a prefetch changes nothing but the cache.
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast::<i8>().add(offset));
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}

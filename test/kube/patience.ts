/** For a busy machine: a test that passes takes a few milliseconds. */
export const patienceMilliseconds = 30_000;

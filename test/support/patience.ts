/** How long tests wait for a condition. Far longer than needed, because a machine can be busy. */
export const patienceMilliseconds = 12 * 60_000;

// Replaces the comparison of resourceVersions, so that the reflector believes every event.

export const isAtLeast = (): boolean => false;

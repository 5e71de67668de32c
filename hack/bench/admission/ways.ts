/** What keeps StatefulSets at OnDelete while MOCO applies them. */
export const ways = ['neither', 'policy', 'webhook'] as const;
export type WayName = (typeof ways)[number];

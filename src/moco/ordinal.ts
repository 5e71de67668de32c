/** The ordinal in the name of a StatefulSet's pod. */
export const ordinalOf = (name: string): number => Number(name.slice(name.lastIndexOf('-') + 1));

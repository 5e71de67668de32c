const wanted = process.env['STATES'];

/** Whether `make soak` explores, which sets STATES. Only `make soak` explores large worlds to the end. */
export const isSoaked = wanted !== undefined;

/** The number of states to explore of a world: the given one, or that of `make soak`. */
export const statesUnlessSoaked = (here: number): number => Number(wanted ?? here);

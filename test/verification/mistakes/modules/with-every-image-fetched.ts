import type { fetchedImages as right } from '../../../../src/controller/questions/preflight-images.ts';

/** Every node has the images, or will. */
export const fetchedImages: typeof right = (preflight) => () => preflight !== null;

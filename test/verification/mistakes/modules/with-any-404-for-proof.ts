import { isMissing } from '../../../../src/kube/api-error.ts';
import type { isProvenAbsent as right } from '../../../../src/kube/discovery.ts';

/** Takes every 404 for an answer of the API server. */
export const isProvenAbsent: typeof right = (answer) => Promise.resolve(isMissing(answer));

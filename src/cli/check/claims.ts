import { endingClaims } from '../cluster/ending-claims.ts';
import { type Check, failed, ok } from './finding.ts';

/** Claims that only their running pods keep. */
export const claims: Check = {
  about: 'PersistentVolumeClaims',
  find: async (session) => {
    const ending = await endingClaims(session, session.namespace);
    return ending.length === 0
      ? ok('none of a member is being deleted')
      : failed(
          `these are being deleted, and the end of their pods destroys the data: ${ending.join(', ')}; drain no node of them, and see \`${session.host.program} explain ClaimTerminating\``,
        );
  },
};

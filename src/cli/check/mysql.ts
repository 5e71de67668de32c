import { publishedFlags } from '../cluster/controller-lease.ts';
import { type Check, ok, unknown } from './finding.ts';
import { controllerDeployment, noAccount } from './installation.ts';
import { deniedTo, placeOf, userOfController } from './rights.ts';

/** Whether MySQL itself is asked, and if not, what is not known without. */
export const mysql: Check = {
  about: 'MySQL',
  find: async (session) => {
    const { options, unknown: why } = await publishedFlags(session);
    if (why !== null) return unknown(why);
    if (!options.featureGates.ReplicationFacts) {
      return ok(
        'it is not asked (feature gate ReplicationFacts): whether a replica that is ready has received what the primary has committed is not known, nor what a switchover would cut off',
      );
    }
    const deployment = await controllerDeployment(session);
    if (deployment === null) return noAccount;
    const user = userOfController(deployment);
    const denied = await deniedTo(session, [['', 'secrets', ['get']]], user);
    return ok(
      denied.length === 0
        ? `it is asked: ${user} may read MOCO's Secrets ${placeOf(session)}`
        : `it is asked where ${user} may read MOCO's Secrets, which it may not ${placeOf(session)}: config/replication-facts grants it in a namespace`,
    );
  },
};

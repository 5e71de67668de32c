import { object, objects } from '../../moco/json.ts';
import { type Check, failed, ok } from './finding.ts';
import { controllerDeployment } from './installation.ts';
import { deniedTo, userOfController } from './rights.ts';

/** Whether MySQL itself is asked, and if not, what is not known without. */
export const mysql: Check = {
  about: 'MySQL',
  find: async (session) => {
    const deployment = await controllerDeployment(session);
    if (deployment === null) return failed('no controller is installed');
    const { containers } = object(object(object(deployment['spec'])['template'])['spec']);
    const flags = objects(containers).flatMap(({ args }) => (Array.isArray(args) ? args.map(String) : []));
    const isOn = flags.some((flag) => /^--feature-gates=(.*,)?ReplicationFacts=(true|t|1)\b/i.test(flag));
    if (!isOn) {
      return ok(
        'it is not asked (feature gate ReplicationFacts): whether a replica that is ready has received what the primary has committed is not known, nor what a switchover would cut off',
      );
    }
    const user = userOfController(deployment);
    const denied = await deniedTo(session, [['', 'secrets', ['get']]], user);
    const where = session.namespace === null ? 'in all namespaces' : `in namespace ${session.namespace}`;
    return denied.length === 0
      ? ok(`it is asked: ${user} may read MOCO's Secrets ${where}`)
      : ok(
          `it is asked only where ${user} may read MOCO's Secrets, which it may not ${where}: config/replication-facts grants it in a namespace`,
        );
  },
};

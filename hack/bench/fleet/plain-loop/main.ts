import { accessWith } from '../../../../test/support/object-client.ts';
import { silentLog } from '../../../../test/support/silent-log.ts';
import { PlainLoop } from './plain-loop.ts';

// The program for comparison. It evicts stale members, with one task for each cluster, and does nothing else. Its
// argument is the path of a kubeconfig. It runs until it is killed.

const [kubeconfigPath = ''] = process.argv.slice(2);

const say = (fields: object, message: string): void => console.error(message, fields);
const log = { ...silentLog, warn: say, error: say };
const loop = new PlainLoop(accessWith(kubeconfigPath, { userAgent: 'plain-loop' }), log);
await loop.start();
console.log('the plain loop runs');

import { type HttpHandler, text } from './http-server.ts';

/** `null` when all is well, else what is wrong, in words. */
export type HealthCheck = () => string | null;

/**
 * A handler for `/healthz` or `/readyz` in Kubernetes' manner: `ok` while every check passes, else 500 with a line for
 * each check. `?verbose` shows the lines in either case.
 */
export function healthHandler(endpoint: string, checks: Readonly<Record<string, HealthCheck>>): HttpHandler {
  return ({ verbose }) => {
    const results = Object.entries(checks).map(([name, check]) => ({ name, problem: check() }));
    const healthy = results.every(({ problem }) => problem === null);
    if (healthy && !verbose) return text(200, 'ok');
    const lines = results.map(({ name, problem }) =>
      problem === null ? `[+]${name} ok` : `[-]${name} failed: ${problem}`,
    );
    return text(healthy ? 200 : 500, [...lines, `${endpoint} check ${healthy ? 'passed' : 'failed'}`].join('\n'));
  };
}

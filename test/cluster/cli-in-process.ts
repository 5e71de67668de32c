import { runCli } from '../../src/cli/run.ts';

export interface Said {
  readonly status: number;
  /** Standard output and standard error, as they came. */
  readonly text: string;
}

/** The command line in this process, where what is asked is not what a process of its own would do. */
export async function said(argv: readonly string[], kubeconfig: string): Promise<Said> {
  let text = '';
  const write = (piece: string): void => {
    text += piece;
  };
  const status = await runCli([...argv, `--kubeconfig=${kubeconfig}`], {
    program: 'moco-rollout',
    env: {},
    home: '/nowhere',
    out: write,
    err: write,
    terminal: () => null,
    onInterrupt: () => () => undefined,
    wall: () => Date.now(),
  });
  return { status, text };
}

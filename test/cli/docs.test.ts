import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { connectionOptions } from '../../src/cli/cluster/connection-flags.ts';
import { commands } from '../../src/cli/run.ts';
import { runWith } from './fake-cluster.ts';

const text = readFileSync(new URL('../../docs/cli.md', import.meta.url), 'utf8');
const longName = (flags: string): string => /--[a-z-]+/.exec(flags)?.[0] ?? '';

describe('docs/cli.md', () => {
  it('has every command with its arguments, and every option', () => {
    for (const { name, arguments: takes, options = {} } of commands) {
      expect(text, name).to.contain(`| \`${`${name} ${takes.replaceAll(/[<>]/g, '')}`.trim()}\` |`);
      for (const { flags } of Object.values(options)) expect(text, `${name} ${flags}`).to.contain(longName(flags));
    }
    for (const { flags } of Object.values(connectionOptions)) expect(text, flags).to.contain(longName(flags));
  });

  it('names existing commands only', async () => {
    const said = [...text.matchAll(/moco-rollout ([a-z-]+)/g)].map(([, name]) => name ?? '');
    expect(said.length).to.be.greaterThan(5);
    for (const name of new Set(said)) {
      expect(await runWith({}, [name, '--help']), name).to.include({ status: 0, err: '' });
    }
  });
});

#!/usr/bin/env node
import { realHost } from './cli/host.ts';
import { runCli } from './cli/run.ts';

// No await at the top: the bundle is CommonJS, which a single executable has to be.
void main();

async function main(): Promise<void> {
  process.exitCode = await runCli(process.argv.slice(2), realHost());
}

#!/usr/bin/env node
import { realHost } from './host.ts';
import { runCli } from './run.ts';

// No top-level await: a single executable needs a CommonJS bundle.
void main();

async function main(): Promise<void> {
  process.exitCode = await runCli(process.argv.slice(2), realHost());
}

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { build } from 'esbuild';
import { realWorld } from '../../src/base/world.ts';
import type { converse } from '../../src/mysql/mysql-session.ts';
import { askWhoItIs } from '../../src/mysql/statements.ts';
import { HostileServer } from './hostile-server.ts';

describe('the bundle', () => {
  it('asks mysqld as the source does, and loads mysql2 only then', async () => {
    const outdir = await mkdtemp(join(tmpdir(), 'moco-rollout-bundle-'));
    const server = await HostileServer.open((socket) => socket.end());
    try {
      // As hack/build.ts does.
      const { metafile } = await build({
        entryPoints: ['src/mysql/mysql-session.ts'],
        outdir,
        bundle: true,
        platform: 'node',
        format: 'esm',
        splitting: true,
        metafile: true,
        outExtension: { '.js': '.mjs' },
        banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
      });
      const inputs =
        Object.entries(metafile.outputs).find(([path]) => path.endsWith('mysql-session.mjs'))?.[1].inputs ?? {};
      expect(Object.keys(inputs).filter((path) => path.includes('mysql2'))).to.deep.equal([]);
      const built = (await import(pathToFileURL(join(outdir, 'mysql-session.mjs')).href)) as {
        converse: typeof converse;
      };
      const world = realWorld(() => Promise.reject(new Error('no API server')));
      const address = { ip: '127.0.0.1', port: server.port };
      const asked = built.converse(
        world,
        address,
        { user: 'a', password: 'b' },
        new AbortController().signal,
        askWhoItIs,
      );
      expect(await asked.catch((error: Error) => error.message)).to.equal('PROTOCOL_CONNECTION_LOST');
    } finally {
      await server.close();
      await rm(outdir, { recursive: true });
    }
  });
});

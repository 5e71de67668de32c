import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { withArguments } from '../../../hack/program/run-program.ts';
import { startCluster } from '../../support/cluster/cluster.ts';
import { Registry } from '../../support/cluster/registry.ts';
import { kubernetesVersion } from '../../support/control-plane/build.ts';
import type { Segment } from '../../support/nodes/recorded/history.ts';
import { fileOf } from '../../support/nodes/recorded/recording.ts';
import { stories } from '../../support/nodes/recorded/stories.ts';
import { Recorder } from './recorder.ts';
import { subjectImages } from './subject-images.ts';

// Records what kubelets say about pods, for the test of the stand-ins' nodes.

const fixtures = fileURLToPath(new URL('../../fixtures/kubelet-recorded/', import.meta.url));

const command = new Command('test/reality/kubelet/main.ts')
  .option('--output <directory>', 'where the recordings go', fixtures)
  .option('--only <stories...>', 'these stories', Object.keys(stories));
const { output: directory, only: chosen } = withArguments(command).opts<{ output: string; only: readonly string[] }>();
const images = await subjectImages();
const cluster = await startCluster({ nodes: 3, images: [...images.known.values()] });
const registry = await Registry.start(cluster, images.pulled);
let failed = 0;
try {
  await mkdir(directory, { recursive: true });
  await Promise.all(cluster.nodes.map((_, index) => recordNode(index + 1)));
} finally {
  await registry.stop();
  await cluster.stop();
}
process.exitCode = failed === 0 ? 0 : 1;

async function recordNode(node: number): Promise<void> {
  for (const [name, story] of Object.entries(stories)) {
    if (story.node !== node || !chosen.includes(name)) continue;
    const recorder = await Recorder.open(cluster, registry, story, name.replaceAll(/\W+/g, '-'));
    try {
      for (const act of story.acts) await recorder.play(act);
      process.stdout.write(`recorded: ${name}\n`);
    } catch (error) {
      failed += 1;
      process.stderr.write(`not recorded: ${name}: ${String(error)}\n`);
    } finally {
      await write(name, recorder.history.segments);
      await recorder.close();
    }
  }
}

/** A line a version, of which only what is new is written. */
async function write(name: string, segments: readonly Segment[]): Promise<void> {
  const kubernetes = await kubernetesVersion();
  let before: Readonly<Record<string, string>> = {};
  const lines = segments.map(({ act, versions }) => {
    const written = versions.map((version) => {
      const was = before;
      before = version ?? {};
      if (version === null) return '      null';
      const changed = Object.fromEntries(Object.entries(version).filter(([key, word]) => was[key] !== word));
      const removed = Object.fromEntries(
        Object.keys(was)
          .filter((key) => version[key] === undefined)
          .map((key) => [key, null]),
      );
      return `      ${JSON.stringify({ ...changed, ...removed })}`;
    });
    const list = written.length === 0 ? '[]' : `[\n${written.join(',\n')}\n    ]`;
    return `    { "act": ${JSON.stringify(act)}, "versions": ${list} }`;
  });
  const text = `{\n  "kubernetes": ${JSON.stringify(kubernetes)},\n  "segments": [\n${lines.join(',\n')}\n  ]\n}\n`;
  await writeFile(join(directory, fileOf(name)), text);
}

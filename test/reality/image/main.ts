import { Unavailable, whatClusterLacks } from '../../support/cluster/requirements.ts';
import { imageArchives } from './archives.ts';

// Makes the images of MOCO and MySQL that clusters with nodes run, once, on a machine that can run such a cluster.

const lacking = await whatClusterLacks();
if (lacking !== null) {
  process.stderr.write(`${lacking}. No images are made.\n`);
} else {
  try {
    for (const path of (await imageArchives()).values()) process.stdout.write(`${path}\n`);
  } catch (error) {
    // The tests that need them say so too, and are left out.
    if (!(error instanceof Unavailable)) throw error;
    process.stderr.write(`${error.message}\n`);
  }
}

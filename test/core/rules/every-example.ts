import type { HoldRule } from '../../../src/core/decision.ts';
import { examples as backups } from './backups.ts';
import { examples as byPartition } from './by-partition.ts';
import { examples as checks } from './checks.ts';
import { examples as cloning } from './cloning.ts';
import { examples as everything } from './everything.ts';
import type { Example, Examples } from './example.ts';
import { examples as fleet } from './fleet.ts';
import { examples as longWrite } from './long-write.ts';
import { examples as members } from './members.ts';
import { examples as moco } from './moco.ts';
import { examples as mysqldVersions } from './mysqld-versions.ts';
import { examples as nodeMaintenance } from './node-maintenance.ts';
import { examples as notDone } from './not-done.ts';
import { examples as notParticipating } from './not-participating.ts';
import { examples as participating } from './participating.ts';
import { examples as refusedOnNodes } from './preflight.ts';
import { examples as primary } from './primary.ts';
import { examples as recreatable } from './recreatable.ts';
import { examples as roles } from './roles.ts';
import { examples as unfinished } from './unfinished.ts';
import { examples as untouchable } from './untouchable.ts';

// The examples of a rule are in the file that has the name of its file in src/core/rules.

const all: Examples<HoldRule> = {
  ...untouchable,
  ...everything,
  ...unfinished,
  ...refusedOnNodes,
  ...mysqldVersions,
  ...fleet,
  ...roles,
  ...recreatable,
  ...cloning,
  ...notParticipating,
  ...participating,
  ...backups,
  ...primary,
  ...nodeMaintenance,
  ...byPartition,
  ...notDone,
  ...checks,
  ...longWrite,
  ...moco,
  ...members,
};

/** An example of each rule: facts to which it applies, and facts to which it just does not. */
export const everyExample = Object.entries<Example>(all) as readonly (readonly [HoldRule, Example])[];

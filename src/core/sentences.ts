import type { ContainerResources, InPlaceChange } from './in-place-changes.ts';
import type { Evidence, MemberState } from './member.ts';
import type { AlteredField, Contention } from './snapshot.ts';
import { restoreRules, type Step, type StepRule, stepRules, undemoteReasons } from './step.ts';

// Sentences about facts and steps, for statuses, Events, logs and commands.

export type Wait =
  | { readonly for: 'state'; readonly state: MemberState; readonly evidence: Evidence | null }
  | { readonly for: 'role' }
  /** The StatefulSet controller or MOCO has not replaced the member yet. */
  | { readonly for: 'revision' }
  | { readonly for: 'containers'; readonly containers: readonly string[] }
  | { readonly for: 'sidecars'; readonly containers: readonly string[] }
  | { readonly for: 'minReadySeconds'; readonly minReadySeconds: number };

/** Why a member does not come back updated: the name of a rule that holds it, or one of these reasons. */
export type KeptBecause = { readonly rule: string } | 'pinned' | 'partition' | 'unverified' | 'setting';

/**
 * The revision at which a member comes back after another program or a person deleted its pod. If `restored` is set, a
 * step deleted the pod to restore the member's previous revision.
 */
export type Recreated =
  | { readonly as: 'before'; readonly because: KeptBecause; readonly restored?: true }
  | { readonly as: 'updated'; readonly because: null }
  /** The member should come back at its previous revision, but that is impossible. */
  | {
      readonly as: 'updated';
      readonly because: KeptBecause;
      readonly despite: 'created' | 'started' | 'setsBack' | 'admission' | 'data';
      readonly restored?: true;
    };

const keptReasons = {
  pinned: 'it is pinned',
  partition: 'it is below the partition',
  unverified: 'no member has shown that the update revision works',
  setting: 'lostMembers is KeepRevision',
} as const;

const keptReason = (because: KeptBecause): string =>
  typeof because === 'string' ? keptReasons[because] : `${because.rule} holds`;

const despites = {
  created: 'it was created before moco-rollout could act',
  started: 'it was created before moco-rollout could act, and its mysqld has started, so it is left alone',
  setsBack: 'new pods would start at a revision that is older than the data of a member',
  admission: 'admission does not keep new pods at the current revision',
  data: 'it is unknown which mysqld has started on its data',
} as const;

export function explainRecreated(back: Recreated): string {
  if (back.because !== null && back.restored) {
    const restoring = 'moco-rollout deleted its pod to restore its previous revision';
    return back.as === 'before' ? restoring : `${restoring}, but it comes back updated: ${despites[back.despite]}`;
  }
  if (back.as === 'before') {
    return `another client deleted its pod; it comes back at its previous revision: ${keptReason(back.because)}`;
  }
  if (back.because === null) {
    return 'another client deleted its pod; it comes back updated: the revision works, and nothing holds the rollout';
  }
  return `another client deleted its pod, and it is updated although ${keptReason(back.because)}: ${despites[back.despite]}`;
}

export function explainWait(wait: Exclude<Wait, { for: 'revision' }>): string {
  switch (wait.for) {
    case 'state':
      if (wait.state === 'impaired' && wait.evidence !== null)
        return `its pod is not Ready: ${explainEvidence(wait.evidence)}`;
      if (wait.evidence !== null) return `does not participate: ${explainEvidence(wait.evidence)}`;
      // The image may still be downloading, or the container may be starting.
      return wait.state === 'running' ? 'does not participate yet' : `does not participate (${wait.state})`;
    case 'role':
      return 'MOCO has not set its role yet';
    case 'containers':
      return `${wait.containers.join(', ')} ${plural(wait.containers, 'has', 'have')} not restarted with the new image yet`;
    case 'sidecars':
      return `${wait.containers.join(', ')} ${plural(wait.containers, 'is', 'are')} not ready yet`;
    case 'minReadySeconds':
      return `has not participated for ${wait.minReadySeconds} s yet`;
  }
}

export function explainEvidence(evidence: Evidence): string {
  switch (evidence.kind) {
    case 'waiting':
      return `container ${evidence.container} is waiting (${[evidence.reason, ...restarts(evidence.restarts)].join(', ')})`;
    case 'failed':
      return evidence.reason === null ? 'the pod has failed' : `the pod has failed: ${evidence.reason}`;
    case 'earlier':
      return evidence.message;
    case 'unschedulable':
      return `no node accepts the pod: ${withoutFullStop(evidence.message)}`;
    case 'idle':
      return 'mysqld has not been running';
    case 'notReady':
      return `container ${evidence.container} is not ready`;
    case 'crashLooping':
      return `container ${evidence.container} has not been ready since it restarted${restarts(evidence.restarts)
        .map((times) => ` (${times})`)
        .join('')}`;
    case 'restored':
      return 'a person has asked for its previous revision';
    case 'errant':
      return 'MOCO lists it as errant';
  }
}

function restarts(count: number): readonly string[] {
  return count === 0 ? [] : [counted(count, 'restart')];
}

/** A number with its noun, such as `1 disruption` or `2 disruptions`. */
export const counted = (number: number, one: string): string => `${number} ${one}${number === 1 ? '' : 's'}`;

/** The suffix for a list of which only the first item is shown. */
export const andMore = (others: number): string => (others === 0 ? '' : ` (and ${others} more)`);

/** Removes a full stop at the end. Messages of other programs may have one. */
export function withoutFullStop(sentence: string): string {
  let end = sentence.length;
  while (end > 0 && /[.\s]/.test(sentence.charAt(end - 1))) end -= 1;
  return sentence.slice(0, end);
}

/** Returns `one` for a single item, otherwise `several`. */
export function plural(items: readonly unknown[], one: string, several: string): string {
  return items.length === 1 ? one : several;
}

/**
 * Returns a text such as `moco-controller keeps writing the StatefulSet (at least 10 times a second) because the API
 * server …`.
 */
export function explainContention({ writesPerSecond, managers, fields }: Contention): string {
  const who = managers.length === 0 ? 'an unknown client' : managers.join(' and ');
  const why = fields.length === 0 ? '' : ` because the API server ${explainAltered(fields)}`;
  const s = managers.length > 1 ? '' : 's';
  if (writesPerSecond === null) return `${who} reset${s} the partition each time it is lowered${why}`;
  const often = writesPerSecond === 1 ? 'once' : `${writesPerSecond} times`;
  return `${who} keep${s} writing the StatefulSet (at least ${often} a second)${why}`;
}

/** Returns a text such as `adds spec.a (set it explicitly), drops spec.b (remove it)`. */
export function explainAltered(fields: readonly AlteredField[]): string {
  const shown = fields
    .slice(0, mostFields)
    .map(({ path, what }) => (what === 'added' ? `adds ${path} (set it explicitly)` : `drops ${path} (remove it)`));
  const left = fields.length - shown.length;
  return [...shown, ...(left > 0 ? [`alters ${left} more`] : [])].join(', ');
}

const mostFields = 3;

// Times of a fleet are Unix seconds that come from objects in the API server, so that every leader computes the same
// time.

/** A duration in the notation of the spec: `24h`, `1h30m`. 90 s are `1m30s`. */
export function durationText(seconds: number): string {
  const parts: readonly (readonly [number, string])[] = [
    [Math.floor(seconds / 3600), 'h'],
    [Math.floor((seconds % 3600) / 60), 'm'],
    [seconds % 60, 's'],
  ];
  return (
    parts
      .filter(([count]) => count > 0)
      .map(([count, unit]) => `${count}${unit}`)
      .join('') || '0s'
  );
}

/**
 * A time in RFC 3339, in UTC and whole seconds. It is rounded up, so that a wait is certainly over at the time shown.
 */
export function timeText(unixSeconds: number): string {
  return new Date(Math.ceil(unixSeconds) * 1000).toISOString().replace('.000Z', 'Z');
}

/** What the step does, in a sentence for Events and logs. */
export function explainStep(step: Step): string {
  switch (step.kind) {
    case 'none':
      return 'nothing to do';
    case 'delete':
      return `deleting ${step.targets.map((target) => target.name).join(', ')}: ${stepRules[step.rule] ?? 'stale'}`;
    case 'evict':
      return `evicting ${step.targets[0].name}${ofNode(step.rule)}`;
    case 'updateInPlace':
      return `updating ${step.targets[0].name} in place: ${explainChange(step.change)}`;
    case 'resizeInPlace':
      return `resizing ${step.targets[0].name} in place: ${step.resources.map(explainResources).join('; ')}`;
    case 'demote':
      return `asking MOCO to move the primary away from ${step.targets[0].name}${ofNode(step.rule)}`;
    case 'undemote':
      return step.demoted
        ? `taking back the demotion of ${step.targets[0].name}: ${explainReason(step.reason)}`
        : `removing the mark of a finished demotion from ${step.targets[0].name}`;
    case 'release':
      return 'releasing the StatefulSet to rolling updates by partition';
    case 'setStrategy':
      if (step.newPods === 'UpdateRevision') return 'setting the update strategy of the StatefulSet to OnDelete';
      return step.lasts === 'whileHeld'
        ? 'letting lost members come back at their previous revision while the rollout is held'
        : 'letting lost members come back at their previous revision until their pods exist again';
    case 'restore':
      return `deleting ${step.targets[0].name}, which comes back at its previous revision: ${restoreRules[step.rule]}`;
    case 'setPartition':
      return `lowering the partition of the StatefulSet to ${step.partition}${step.targets[0] ? `, which updates ${step.targets[0].name}` : ''}`;
    case 'promoteRevision':
      return `setting the current revision of the StatefulSet to ${step.revision}`;
  }
}

const ofNode = (rule: StepRule): string => (rule === 'NodeLeaving' ? `: ${stepRules[rule]}` : '');

function explainChange({ labels, annotations, containers }: InPlaceChange): string {
  if (containers.length > 0) return `the kubelet restarts ${containers.map(({ name }) => name).join(', ')}`;
  const changed = [...Object.keys(labels), ...Object.keys(annotations)];
  return changed.length === 0 ? 'the revisions do not differ' : `only metadata changes (${changed.join(', ')})`;
}

/** Returns a text such as `agent gets limits.cpu 500m, and restarts`. */
function explainResources({ name, limits, requests, restarts }: ContainerResources): string {
  const values = Object.entries({ limits, requests }).flatMap(([list, quantities]) =>
    Object.entries(quantities).map(([resource, quantity]) => `${list}.${resource} ${quantity}`),
  );
  return `${name} gets ${values.join(', ')}${restarts ? ', and restarts' : ''}`;
}

function explainReason(reason: string): string {
  return reason in undemoteReasons
    ? undemoteReasons[reason as keyof typeof undemoteReasons].because
    : `rule ${reason} holds`;
}

const webhooks = 'kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations -o yaml';

/**
 * How the API server's messages (Kubernetes 1.36) name the object that refused a request, and the command that shows
 * this object.
 */
const refusers: readonly (readonly [words: RegExp, shows: (name: string) => string])[] = [
  [/exceeded quota: ([a-z0-9.-]+)/, (name) => `kubectl describe resourcequota ${name}`],
  [/admission webhook "[a-z0-9.-]+" denied/, () => webhooks],
  [/failed calling webhook "[a-z0-9.-]+"/, () => webhooks],
  [/ValidatingAdmissionPolicy '([a-z0-9.-]+)'/, (name) => `kubectl get validatingadmissionpolicy ${name} -o yaml`],
  [/violates PodSecurity "/, () => 'kubectl get namespace --show-labels'],
  [/(?:maximum|minimum) [a-z0-9./-]+ usage per (?:Container|Pod)/, () => 'kubectl describe limitrange'],
];

/**
 * The API server's message about a refused request. If the message names the object that refused the request, a command
 * that shows this object is appended.
 */
export function pointedOut(message: string): string {
  const text = withoutFullStop(message);
  for (const [words, shows] of refusers) {
    const found = words.exec(text);
    if (found !== null) return `${text} (see \`${shows(found[1] ?? '')}\`)`;
  }
  return text;
}

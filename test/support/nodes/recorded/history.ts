import { isDeepStrictEqual } from 'node:util';
import { ContainerNumbers, type PodWords, type ShownPod, wordsOf } from './pod-words.ts';
import type { Act } from './stories.ts';
import { nameOf } from './stories.ts';

/** `null`: it is gone. */
export type Version = PodWords | null;

/** What followed from one act: versions of the pod, each other than the one before. */
export interface Segment {
  readonly act: string;
  readonly versions: readonly Version[];
}

/** Versions of one pod, as they come. */
export class PodHistory {
  readonly #segments: { act: string; versions: Version[] }[] = [];
  readonly #numbers = new ContainerNumbers();
  #last: Version = null;

  get segments(): readonly Segment[] {
    return this.#segments;
  }

  get last(): Version {
    return this.#last;
  }

  act(act: Act): void {
    this.#segments.push({ act: nameOf(act), versions: [] });
  }

  show(pod: ShownPod | null): void {
    const version = pod === null ? null : wordsOf(pod, this.#numbers);
    if (isDeepStrictEqual(version, this.#last)) return;
    this.#last = version;
    this.#segments.at(-1)?.versions.push(version);
  }
}

/** Whether a version has the words that an act ends with. */
export function ends({ until }: Act, version: Version): boolean {
  if (until === 'gone') return version === null;
  if ('staysForSeconds' in until || version === null) return false;
  return Object.entries(until).every(([key, word]) => version[key] === word);
}

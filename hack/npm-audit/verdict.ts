/** What `npm audit --json` says, as far as it is read: a report, or why there is none. */
interface Said {
  readonly message?: string;
  readonly vulnerabilities?: Readonly<Record<string, Advised>>;
}

interface Advised {
  readonly severity: string;
  readonly range: string;
  /** Titles of advisories, or names of packages that bring them in. */
  readonly via: readonly (string | { readonly title?: string; readonly url?: string })[];
}

export interface Verdict {
  /** `unknown`: nobody has answered, which shows nothing. */
  readonly kind: 'clean' | 'advised' | 'unknown';
  readonly lines: readonly string[];
}

/** @param text standard output of `npm audit --json`; npm's exit code says no more than that it is not clean */
export function verdictOf(text: string): Verdict {
  const said = parsed(text);
  if (said?.vulnerabilities === undefined) {
    const reason = said?.message ?? (text.trim() === '' ? 'npm said nothing' : text.trim().slice(0, 200));
    return {
      kind: 'unknown',
      lines: [
        `expected the registry to answer which advisories there are, got: ${reason}`,
        'Nothing is known of the packages now. Set the registry that npm uses to one that answers, not to a mirror that does not.',
      ],
    };
  }
  const advised = Object.entries(said.vulnerabilities);
  if (advised.length === 0) return { kind: 'clean', lines: ['no advisory is known for what the program is made of'] };
  return { kind: 'advised', lines: advised.map(([name, advisory]) => `${name} ${inWords(advisory)}`) };
}

function inWords({ severity, range, via }: Advised): string {
  const causes = via.map((one) => (typeof one === 'string' ? one : [one.title, one.url].filter(Boolean).join(', ')));
  return `${range}: ${severity}: ${causes.join('; ')}`;
}

function parsed(text: string): Said | null {
  try {
    return JSON.parse(text) as Said;
  } catch {
    return null;
  }
}

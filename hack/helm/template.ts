/** The namespace that kustomize installs into; Helm is told one. */
const namespace = 'moco-rollout-system';

/** A text that has to be in the manifest so many times, and what stands for it in the template. */
export interface Edit {
  readonly from: string;
  readonly to: string;
  /** 1 unless told. */
  readonly times?: number;
}

export interface TemplateOptions {
  /** An expression; without it the object is always there. */
  readonly when?: string;
  readonly edits?: readonly Edit[];
  /** More labels, as an expression of a map. */
  readonly moreLabels?: string;
  /** Lines of the object's own annotations, expressions allowed. */
  readonly annotations?: string;
}

/**
 * One or more YAML objects as a template of Helm: with the release's namespace and labels, and the edits that values
 * make. Throws a sentence where the manifest has not what an edit asks for.
 */
export function template(manifest: string, options: TemplateOptions = {}): string {
  const { when, edits = [] } = options;
  const edited = edits.reduce(withEdit, manifest.replaceAll('{{', '{{ "{{" }}'));
  const objects = edited.split(/^---\n/m).map((object) => withMetadata(withoutHead(object), options));
  const text = objects.join('---\n').replaceAll(namespace, '{{ $.Release.Namespace }}');
  return when === undefined ? text : `{{- if ${when} }}\n${text}{{- end }}\n`;
}

function withEdit(text: string, { from, to, times = 1 }: Edit): string {
  const parts = text.split(from);
  if (parts.length - 1 !== times) {
    throw new Error(`expected "${from}" ${times} times in the manifest, got it ${parts.length - 1} times:\n${text}`);
  }
  return parts.join(to);
}

/** Without the comment that it begins with, which is about the directory that it comes from. */
function withoutHead(object: string): string {
  return object.replace(/^(#.*\n)+/, '');
}

function withMetadata(object: string, { moreLabels, annotations }: TemplateOptions): string {
  const [, head = '', metadata = '', rest = ''] = /^([^]*?^metadata:\n)((?: {2}.*\n)+)([^]*)$/m.exec(object) ?? [];
  if (metadata === '') throw new Error(`expected an object with metadata, got:\n${object}`);
  const labels = [
    '    {{- include "moco-rollout.labels" $ | nindent 4 }}\n',
    ...(moreLabels === undefined
      ? []
      : [`    {{- with ${moreLabels} }}\n    {{- toYaml . | nindent 4 }}\n    {{- end }}\n`]),
  ].join('');
  const labelled = metadata.includes('  labels:\n')
    ? metadata.replace('  labels:\n', `  labels:\n${labels}`)
    : `${metadata}  labels:\n${labels}`;
  return `${head}${labelled}${annotations ?? ''}${rest}`;
}

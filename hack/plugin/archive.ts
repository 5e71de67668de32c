import { gzipSync } from 'node:zlib';

export interface ArchivedFile {
  readonly name: string;
  readonly content: Uint8Array;
  readonly isExecutable: boolean;
}

const blockBytes = 512;

/** A .tar.gz that contains only names, modes and contents, so that the same files always give the same bytes. */
export function archiveOf(files: readonly ArchivedFile[]): Buffer {
  const parts = files.flatMap(({ name, content, isExecutable }) => [
    header(name, content.length, isExecutable ? 0o755 : 0o644),
    content,
    Buffer.alloc((blockBytes - (content.length % blockBytes)) % blockBytes),
  ]);
  const packed = gzipSync(Buffer.concat([...parts, Buffer.alloc(2 * blockBytes)]));
  // The tenth byte of gzip's header is the operating system (RFC 1952): 255 means unknown.
  packed[9] = 255;
  return packed;
}

/**
 * The header of a file in POSIX's ustar format: octal numbers, and a checksum in which the checksum field itself counts
 * as spaces.
 */
function header(name: string, size: number, mode: number): Buffer {
  const block = Buffer.alloc(blockBytes);
  const octal = (value: number, digits: number): string => `${value.toString(8).padStart(digits, '0')}\0`;
  block.write(name, 0, 100);
  block.write(octal(mode, 7), 100);
  block.write(octal(0, 7), 108);
  block.write(octal(0, 7), 116);
  block.write(octal(size, 11), 124);
  block.write(octal(0, 11), 136);
  block.write('        0', 148);
  block.write('ustar\u000000', 257);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${octal(sum, 6)} `, 148);
  return block;
}

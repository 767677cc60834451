import { createHash, type Hash } from 'node:crypto';
import type { FileId, MessageId } from '@parley/domain/kernel';
import type { HeldPerson, HeldRecord, HeldSource } from '@parley/transfer/exports';
import { pathOf } from './write-person.js';
import { type Content, ZipWriter } from './zip-writer.js';

/** Message as an email. */
export interface HeldEmail {
  readonly from: HeldPerson;
  readonly to: readonly Pick<HeldPerson, 'name' | 'email'>[];
  readonly subject: string;
  readonly date: Date;
  readonly messageId: string;
  readonly text: string;
  readonly html: string;
  /** Facts that no standard header contains. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Encodes a message by RFC 5322. */
export type EncodeEmail = (email: HeldEmail) => Promise<Uint8Array>;

/** Name of the manifest, in the format of `sha256sum`. */
export const MANIFEST = 'SHA256SUMS';
/** Maximum number of messages in an archive; its directory is kept in memory. */
export const MAX_HELD_MESSAGES = 500_000;

/**
 * Yields a ZIP archive of what a hold keeps: lines of JSON, an email for each message, the files, and a manifest with
 * the SHA-256 of all of them.
 */
export const writeHeld = (
  source: HeldSource,
  encodeEmail: EncodeEmail,
  rest: () => Promise<void>,
): AsyncGenerator<Uint8Array> => new HeldWriter(source, encodeEmail, rest).stream();

class HeldWriter extends ZipWriter {
  /** Lines of the manifest. */
  private readonly sums: string[] = [];

  constructor(
    private readonly source: HeldSource,
    private readonly encodeEmail: EncodeEmail,
    rest: () => Promise<void>,
  ) {
    super(new Date(source.exportedAt * 1000), rest);
  }

  protected async write(): Promise<void> {
    const { hold, organization, exportedAt } = this.source;
    const files = new Map<FileId, MessageId[]>();
    const ids = new Set<MessageId>();
    await this.addSummed('messages.jsonl', this.lines(files, ids));
    const messages = ids.size;
    await this.addEmails(ids);
    await this.addFiles(files);
    const counts = { messages, files: files.size };
    await this.addSummed('hold.json', [JSON.stringify({ ...hold, organization, exportedAt, ...counts }, null, 2)]);
    await this.add(
      MANIFEST,
      this.sums.map((line) => `${line}\n`),
    );
  }

  /** Yields a line per message, and notes the messages and their files. */
  private async *lines(files: Map<FileId, MessageId[]>, ids: Set<MessageId>): AsyncGenerator<string> {
    for await (const read of this.source.messages()) {
      // The message was deleted during the export, so that its copy is read too.
      const batch = read.filter(({ id }) => !ids.has(id));
      if (ids.size + batch.length > MAX_HELD_MESSAGES) {
        throw new Error(`The hold covers more than ${MAX_HELD_MESSAGES} messages. Create holds of shorter times.`);
      }
      yield batch.map((record) => `${JSON.stringify(record)}\n`).join('');
      for (const { id, fileIds } of batch) {
        ids.add(id);
        for (const fileId of fileIds) files.set(fileId, [...(files.get(fileId) ?? []), id]);
      }
      await this.rest();
    }
  }

  /** Reads the messages again, since only one batch is in memory. `due`: messages of the lines. */
  private async addEmails(due: Set<MessageId>): Promise<void> {
    for await (const batch of this.source.messages()) {
      for (const record of batch) {
        if (!due.delete(record.id)) continue;
        const email = await this.encodeEmail(emailOf(record, this.source.organization.uuid));
        await this.addSummed(`emails/${record.id}.eml`, [email]);
      }
      await this.rest();
    }
  }

  private async addFiles(files: ReadonlyMap<FileId, readonly MessageId[]>): Promise<void> {
    const lines: string[] = [];
    for (const [id, messageIds] of files) {
      const copy = await this.source.file(id, messageIds);
      const path = copy?.content ? pathOf(copy.file) : null;
      lines.push(`${JSON.stringify({ ...(copy?.file ?? { id }), messageIds, path })}\n`);
      if (path !== null && copy?.content) await this.addSummed(path, copy.content);
      await this.rest();
    }
    await this.addSummed('files.jsonl', lines);
  }

  private async addSummed(name: string, content: Content): Promise<void> {
    const hash = createHash('sha256');
    await this.add(name, hashed(content, hash));
    this.sums.push(`${hash.digest('hex')}  ${name}`);
  }
}

async function* hashed(content: Content, hash: Hash): AsyncGenerator<Uint8Array | string> {
  for await (const chunk of content) {
    hash.update(chunk);
    yield chunk;
  }
}

function emailOf(record: HeldRecord, uuid: string): HeldEmail {
  const { id, sender, channel, participants, edits, deleted, fileIds } = record;
  const host = `${uuid}.parley.invalid`;
  const others = participants?.filter((person) => person.id !== sender.id) ?? [];
  return {
    from: sender,
    to: channel ? [{ name: `#${channel.name}`, email: `channel-${channel.id}@${host}` }] : others,
    subject: channel ? `#${channel.name} > ${channel.topic}` : 'Direct message',
    date: new Date(record.sentAt * 1000),
    messageId: `<message-${id}@${host}>`,
    text: record.content,
    html: record.html,
    headers: {
      'X-Parley-Message': String(id),
      ...(edits.length > 0 && { 'X-Parley-Edits': String(edits.length) }),
      ...(deleted && { 'X-Parley-Deleted': new Date(deleted.at * 1000).toISOString() }),
      ...(fileIds.length > 0 && { 'X-Parley-Files': fileIds.join(' ') }),
    },
  };
}

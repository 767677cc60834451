import type { MessageCopy } from '@parley/domain/exports';
import { type ClientNumbers, extraRow, messageRow, userMessageRows } from './message-rows.js';

/** A file ends with the first that is reached: whoever reads one has the whole in memory. */
const MESSAGES_IN_A_FILE = 1000;
const HOLDERS_IN_A_FILE = 200_000;

/** Handed out at a time, in bytes. */
export const CHUNK = 32_768;

/**
 * A file of messages, and after `clear` the next one, in the same memory. Messages become rows at once: objects and buffers that are
 * kept for a thousand messages are garbage which only a long collection finds.
 */
export class MessageFile {
  private readonly messages = new Rows();
  private readonly userMessages = new Rows();
  private readonly extras = new Rows();
  private count = 0;
  private holderCount = 0;
  private lastUserMessage = 0;

  constructor(
    private readonly realmId: number,
    private readonly clients: ClientNumbers,
  ) {}

  get messageCount(): number {
    return this.count;
  }

  get isFull(): boolean {
    return this.count >= MESSAGES_IN_A_FILE || this.holderCount >= HOLDERS_IN_A_FILE;
  }

  add(copy: MessageCopy): void {
    this.messages.add(JSON.stringify(messageRow(copy, this.realmId, this.clients)));
    this.userMessages.add(userMessageRows(copy, () => ++this.lastUserMessage));
    const extra = extraRow(copy);
    if (extra) this.extras.add(JSON.stringify(extra));
    this.count++;
    this.holderCount += copy.holders.length;
  }

  /** In bytes. */
  get length(): number {
    return this.pieces().reduce((sum, { length }) => sum + length, 0);
  }

  /** Copies: they may be compressed when the next file is being written. */
  async *chunks(): AsyncGenerator<Uint8Array> {
    for (const piece of this.pieces()) {
      for (let start = 0; start < piece.length; start += CHUNK) yield Buffer.from(piece.subarray(start, start + CHUNK));
    }
  }

  clear(): void {
    for (const rows of [this.messages, this.userMessages, this.extras]) rows.clear();
    this.count = 0;
    this.holderCount = 0;
  }

  private pieces(): readonly Buffer[] {
    return [
      Buffer.from('{"zerver_message":['),
      this.messages.bytes,
      Buffer.from('],\n"zerver_usermessage":['),
      this.userMessages.bytes,
      Buffer.from('],\n"parley_message":['),
      this.extras.bytes,
      Buffer.from(`],\n"parley_client":${JSON.stringify(this.clients.rows())}}\n`),
    ];
  }
}

/** Of UTF-8, for each unit of a JavaScript string. */
const MOST_BYTES_A_UNIT = 3;

/** JSON rows, one after the other. */
class Rows {
  private buffer = Buffer.allocUnsafeSlow(CHUNK);
  private length = 0;

  get bytes(): Buffer {
    return this.buffer.subarray(0, this.length);
  }

  /** One, or several with what is between them; none: nothing happens. */
  add(rows: string): void {
    if (rows === '') return;
    const text = this.length === 0 ? rows : `,\n${rows}`;
    this.makeRoomFor(text.length * MOST_BYTES_A_UNIT);
    this.length += this.buffer.write(text, this.length);
  }

  clear(): void {
    this.length = 0;
  }

  private makeRoomFor(added: number): void {
    const needed = this.length + added;
    if (needed <= this.buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.buffer.length));
    this.bytes.copy(larger);
    this.buffer = larger;
  }
}

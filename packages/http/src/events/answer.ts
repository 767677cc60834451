import { type Delivery, type DeliveryOutcome, POSITIONS_PER_SEQ } from '@parley/domain/kernel';
import { EncodedTexts } from '../kernel/encoded-texts.js';
import type { BodyChunk } from '../kernel/reply.js';
import type { Presented, WireEvent } from './event-presenter.js';
import { endWithId, SharedText } from './event-texts.js';

/** Bounds of one answer; the next poll goes on (events §6.3). An event that is longer by itself has an answer of its own. */
const MAX_EVENTS = 1000;
const MAX_BYTES = 4_000_000;
/** Shorter chunks, in characters, are put together for each answer: sharing them would cost more than it saves. */
const MIN_SHARED = 8 * 1024;
const MIN_SHARED_END = 512;
const MAX_SHARED = 64 * 1024;
/** Chunks end where so many events of the log end, so that answers which begin at different places come to share them. */
const POSITIONS_PER_CHUNK = 64 * POSITIONS_PER_SEQ;

/** Encoded chunks shared between answers. */
export const newSharedTexts = (): EncodedTexts => new EncodedTexts('');

/** The events of an answer to a poll, as they are put together. */
export class EventAnswer {
  private chunks: BodyChunk[] = [];
  /** What the next chunk will be made of, and how long that is. */
  private open: string[] = [];
  private openLength = 0;
  count = 0;
  bytes = 0;
  /** The highest id in it; -1: there is none. */
  lastPosition = -1;

  constructor(private readonly shared: EncodedTexts) {}

  /** What one delivery became, as far as the client has not confirmed it: all of it, or it is left for the next answer. */
  take(delivery: Delivery, presented: Presented, acked: number): DeliveryOutcome {
    const first = 'stored' in delivery ? delivery.stored.seq * POSITIONS_PER_SEQ : delivery.position;
    if (presented instanceof SharedText) {
      if (first <= acked) return 'silent';
      if (!this.hasRoomFor(1, ID_BYTES + presented.bytes)) return 'left';
      this.addText(presented.withId(first), first);
      this.bytes += ID_BYTES + presented.bytes;
      return 'shown';
    }
    // Positions ascend, so what was confirmed comes first.
    const from = Math.max(0, acked + 1 - first);
    if (from >= presented.length) return 'silent';
    const due = presented.slice(from);
    const bytes = due.reduce((sum, event) => sum + bytesOf(event), 0);
    if (!this.hasRoomFor(due.length, bytes)) return 'left';
    due.forEach((event, n) => {
      this.add(event, first + from + n);
    });
    this.bytes += bytes;
    return 'shown';
  }

  /** What belongs to no delivery, such as a heartbeat. */
  add(event: WireEvent, position: number): void {
    if (event instanceof SharedText) {
      this.addText(event.withId(position), position);
      return;
    }
    this.begin(position);
    for (const piece of event) this.append(typeof piece === 'string' ? piece : piece.text);
    this.append(endWithId(position));
    this.note(position);
  }

  /** The elements of a JSON array, in chunks of which the long ones are shared between answers. Handed over, not kept. */
  finish(): readonly BodyChunk[] {
    // Those that have all the rest in common have its end in common too.
    this.close(this.chunks.length > 0 ? MIN_SHARED_END : MIN_SHARED);
    const { chunks } = this;
    this.chunks = [];
    return chunks;
  }

  private hasRoomFor(count: number, bytes: number): boolean {
    return this.count === 0 || (this.count + count <= MAX_EVENTS && this.bytes + bytes <= MAX_BYTES);
  }

  private addText(text: string, position: number): void {
    this.begin(position);
    this.append(text);
    this.note(position);
  }

  private begin(position: number): void {
    if (this.count === 0) return;
    const isNextChunk =
      Math.floor(position / POSITIONS_PER_CHUNK) !== Math.floor(this.lastPosition / POSITIONS_PER_CHUNK);
    if (isNextChunk && this.openLength >= MIN_SHARED) this.close();
    this.append(',');
  }

  /** What is long is a chunk of its own, whatever stands around it. */
  private append(text: string): void {
    if (text.length >= MIN_SHARED || this.openLength + text.length > MAX_SHARED) this.close();
    this.open.push(text);
    this.openLength += text.length;
    if (text.length >= MIN_SHARED) this.close();
  }

  private close(minShared = MIN_SHARED): void {
    if (this.openLength >= minShared)
      this.chunks.push(this.shared.encode(this.open, this.open[0] === ',' ? this.open[1] : this.open[0]));
    else if (this.openLength > 0) this.chunks.push(this.open.join(''));
    this.open = [];
    this.openLength = 0;
  }

  private note(position: number): void {
    this.count++;
    this.lastPosition = position;
  }
}

/** `,"id":`, a position and a brace. */
const ID_BYTES = 20;

function bytesOf(event: WireEvent): number {
  if (event instanceof SharedText) return ID_BYTES + event.bytes;
  let bytes = ID_BYTES;
  for (const piece of event) bytes += typeof piece === 'string' ? Buffer.byteLength(piece) : piece.bytes;
  return bytes;
}

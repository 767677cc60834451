import { type Delivery, type DeliveryOutcome, POSITIONS_PER_SEQ } from '@parley/domain';
import { TextChunks } from '../caching/text-chunks.js';
import type { Presented, WireEvent } from './event-presenter.js';
import { endWithId, SharedText } from './shared-texts.js';

/** Bounds of one answer; the next poll goes on (events §6.3). An event that is longer by itself has an answer of its own. */
const MAX_EVENTS = 1000;
const MAX_BYTES = 4_000_000;

/** The events of an answer to a poll, as they are put together. */
export class EventAnswer {
  private readonly chunks = new TextChunks();
  count = 0;
  bytes = 0;
  /** The highest id in it; -1: there is none. */
  lastPosition = -1;

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
    if (this.count > 0) this.chunks.add(',');
    for (const piece of event) this.chunks.add(typeof piece === 'string' ? piece : piece.text);
    this.chunks.add(endWithId(position));
    this.note(position);
  }

  /** The elements of a JSON array, in chunks of which the long ones are shared between answers. Handed over, not kept. */
  finish(): readonly string[] {
    return this.chunks.finish();
  }

  private hasRoomFor(count: number, bytes: number): boolean {
    return this.count === 0 || (this.count + count <= MAX_EVENTS && this.bytes + bytes <= MAX_BYTES);
  }

  private addText(text: string, position: number): void {
    if (this.count > 0) this.chunks.add(',');
    this.chunks.add(text);
    this.note(position);
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

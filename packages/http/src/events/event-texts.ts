import type { AnyEvent } from '@parley/domain/events';
import { BoundedCache } from '../caching/bounded-cache.js';

/** A JSON object without `id` and closing brace, as every client gets it that gets the same of an event. */
export class SharedText {
  readonly bytes: number;
  /** The whole object under the id it was given, which is the same for all of them. */
  private whole: { readonly id: number; readonly text: string } | null = null;

  constructor(readonly text: string) {
    this.bytes = Buffer.byteLength(text);
  }

  withId(id: number): string {
    if (this.whole?.id !== id) this.whole = { id, text: `${this.text}${endWithId(id)}` };
    return this.whole.text;
  }
}

export const endWithId = (id: number): string => `,"id":${id}}`;

/** What an event's forms have in common for clients that get the same of it, by whatever distinguishes them. */
interface EventTexts {
  readonly texts: ReadonlyMap<string, SharedText>;
  readonly weight: number;
}

/** In characters of all texts together. */
const DEFAULT_ROOM = 16 * 1024 * 1024;
/** An event takes some room itself for as long as its texts are kept. */
const EVENT_WEIGHT = 200;

/** Texts of events, each put together once however many clients it goes to. */
export class SharedTexts {
  private readonly cache: BoundedCache<AnyEvent, EventTexts>;

  constructor(room: number = DEFAULT_ROOM) {
    this.cache = new BoundedCache(room);
  }

  of(event: AnyEvent, key: string, make: () => string): SharedText {
    const known = this.cache.get(event);
    const text = known?.texts.get(key);
    if (text) return text;
    const made = new SharedText(make());
    const texts = new Map(known?.texts).set(key, made);
    this.cache.put(event, { texts, weight: (known?.weight ?? EVENT_WEIGHT) + made.text.length });
    return made;
  }
}

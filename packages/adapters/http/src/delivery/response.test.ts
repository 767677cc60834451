import type { Delivery } from '@parley/domain/kernel';
import { type Presented, SharedText } from './event-presenter.js';
import { EventResponse, newSharedTexts } from './long-poll.js';

const delivery = (seq: number) => ({ stored: { seq } }) as unknown as Delivery;
const textOf = (response: EventResponse) => JSON.parse(`[${response.finish().join('')}]`);
const event = (length = 10) => new SharedText(`{"type":"x","filling":"${'x'.repeat(length)}"`);
const NOTHING_CONFIRMED = -1;

describe('EventResponse', () => {
  it('numbers presented events from their log position', () => {
    const response = new EventResponse(newSharedTexts());
    expect(response.take(delivery(3), new SharedText('{"type":"a"'), NOTHING_CONFIRMED)).toBe('shown');
    expect(response.take(delivery(4), [], NOTHING_CONFIRMED)).toBe('silent');
    expect(response.take(delivery(5), [['{"type":"b"'], ['{"type":', '"c"']], NOTHING_CONFIRMED)).toBe('shown');
    response.add(['{"type":"heartbeat"'], 5200);
    expect(textOf(response)).toEqual([
      { type: 'a', id: 3 * 1024 },
      { type: 'b', id: 5 * 1024 },
      { type: 'c', id: 5 * 1024 + 1 },
      { type: 'heartbeat', id: 5200 },
    ]);
    expect([response.count, response.lastPosition]).toEqual([4, 5200]);
  });

  it('omits acknowledged events, even in the middle of one delivery', () => {
    const three: Presented = [['{"n":0'], [new SharedText('{"n":1')], ['{"n":2']];
    const take = (acked: number) => {
      const response = new EventResponse(newSharedTexts());
      return [response.take(delivery(2), three, acked), textOf(response).map(({ n }: { n: number }) => n)];
    };
    expect(take(2 * 1024 - 1)).toEqual(['shown', [0, 1, 2]]);
    expect(take(2 * 1024)).toEqual(['shown', [1, 2]]);
    expect(take(2 * 1024 + 1)).toEqual(['shown', [2]]);
    expect(take(2 * 1024 + 2)).toEqual(['silent', []]);
    const one = new EventResponse(newSharedTexts());
    expect([one.take(delivery(2), event(), 2 * 1024), one.take(delivery(2), event(), 2 * 1024 - 1)]).toEqual([
      'silent',
      'shown',
    ]);
  });

  it('holds at most a thousand events and never splits a delivery', () => {
    const response = new EventResponse(newSharedTexts());
    for (let seq = 1; seq < 1000; seq++) expect(response.take(delivery(seq), event(), NOTHING_CONFIRMED)).toBe('shown');
    expect(response.take(delivery(1000), [['{"n":0'], ['{"n":1']], NOTHING_CONFIRMED)).toBe('left');
    expect(response.take(delivery(1000), event(), NOTHING_CONFIRMED)).toBe('shown');
    expect(response.take(delivery(1001), event(), NOTHING_CONFIRMED)).toBe('left');
    expect(response.take(delivery(1002), [], NOTHING_CONFIRMED)).toBe('silent');
    expect(textOf(response)).toHaveLength(1000);
  });

  it('holds at most four million UTF-8 bytes', () => {
    for (const [character, bytes] of [
      ['x', 1],
      ['字', 3],
    ] as const) {
      const filling = character.repeat(Math.floor(999_000 / bytes));
      const response = new EventResponse(newSharedTexts());
      const shown: string[] = [];
      for (let seq = 1; seq <= 5; seq++) {
        const piece = seq % 2 === 0 ? new SharedText(`{"x":"${filling}"`) : [[`{"x":"${filling}"`]];
        shown.push(response.take(delivery(seq), piece, NOTHING_CONFIRMED));
      }
      expect(shown).toEqual(['shown', 'shown', 'shown', 'shown', 'left']);
      expect(Buffer.byteLength(response.finish().join(''))).toBeLessThanOrEqual(4_000_000);
    }
  });

  it('returns an oversized event alone', () => {
    const response = new EventResponse(newSharedTexts());
    expect(response.take(delivery(1), event(5_000_000), NOTHING_CONFIRMED)).toBe('shown');
    expect(response.take(delivery(2), event(), NOTHING_CONFIRMED)).toBe('left');
    expect(textOf(response)).toHaveLength(1);
  });

  it('shares encoded chunks with responses that have a common tail', () => {
    const shared = newSharedTexts();
    const events = Array.from({ length: 500 }, () => event(600));
    const responseFrom = (first: number) => {
      const response = new EventResponse(shared);
      for (const [n, text] of events.slice(first).entries())
        response.take(delivery(first + n), text, NOTHING_CONFIRMED);
      return response.finish();
    };
    const [whole, same, later] = [responseFrom(0), responseFrom(0), responseFrom(100)];
    expect(whole.every((chunk) => Buffer.isBuffer(chunk))).toBe(true);
    expect(same.every((chunk, n) => chunk === whole[n])).toBe(true);
    expect(later.slice(1).every((chunk) => whole.includes(chunk))).toBe(true);
    expect(later.length).toBeGreaterThan(4);
    for (const [chunks, count] of [
      [whole, 500],
      [later, 400],
    ] as const) {
      const ids = JSON.parse(`[${chunks.join('')}]`).map(({ id }: { readonly id: number }) => id);
      expect(ids).toEqual(Array.from({ length: count }, (_, n) => (500 - count + n) * 1024));
    }
  });

  it('shares no chunks with responses of different content', () => {
    const shared = newSharedTexts();
    const [first, ...rest] = Array.from({ length: 100 }, () => event(600));
    const textsOf = (others: readonly SharedText[]) => {
      const response = new EventResponse(shared);
      for (const [n, text] of [first!, ...others].entries()) response.take(delivery(n), text, NOTHING_CONFIRMED);
      return textOf(response).map(({ filling }: { readonly filling: string }) => filling.length);
    };
    const others = rest.map((text, n) => (n === 50 ? event(700) : text));
    expect(textsOf(rest)).not.toContain(700);
    expect(textsOf(others)[51]).toBe(700);
    expect(textsOf(rest)).not.toContain(700);
  });

  it('encodes long texts once and joins short texts', () => {
    const shared = newSharedTexts();
    const long = event(20_000);
    const responses = ['1', '2'].map((localId) => {
      const response = new EventResponse(shared);
      for (let seq = 1; seq <= 3; seq++) response.take(delivery(seq), event(), NOTHING_CONFIRMED);
      response.take(delivery(4), [[long, `,"local_message_id":"${localId}"`]], NOTHING_CONFIRMED);
      return response.finish();
    });
    const [one, other] = responses;
    expect(one!.map((chunk) => Buffer.isBuffer(chunk))).toEqual([false, true, false]);
    expect(other![1]).toBe(one![1]);
    expect(other![2]).not.toBe(one![2]);
  });

  it('releases its content in short chunks', () => {
    const response = new EventResponse(newSharedTexts());
    for (let seq = 1; seq <= 900; seq++) response.take(delivery(seq), event(600), NOTHING_CONFIRMED);
    const chunks = response.finish();
    expect(chunks.length).toBeGreaterThan(5);
    expect(Math.max(...chunks.map(({ length }) => length))).toBeLessThanOrEqual(64 * 1024);
    expect(JSON.parse(`[${chunks.join('')}]`)).toHaveLength(900);
    expect(response.finish()).toEqual([]);
  });
});

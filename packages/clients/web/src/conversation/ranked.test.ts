import { type Found, ranked, rankedWithActions } from './ranked.js';

const named = (name: string, more: Partial<Found> = {}): Found => ({ name, detail: '', ...more });
const namesOf = (entries: readonly Found[]) => entries.map(({ name }) => name);

describe('ranked', () => {
  it('prefers equal names, then recent conversations, other names, other words and mistyped names', () => {
    const entries = [
      named('plqns'),
      named('Settings', { words: 'plans' }),
      named('plans of others'),
      named('plans of mine', { isRecent: true }),
      named('Plans'),
      named('Topic', { detail: '#plans' }),
      named('Topic two', { detail: '#plqns' }),
    ];
    expect(namesOf(ranked(entries, 'plans'))).toEqual([
      ...['Plans', 'plans of mine', 'plans of others', 'Settings', 'Topic'],
      ...['plqns', 'Topic two'],
    ]);
  });

  it('limits entries to channels and topics after # and to people after @', () => {
    const entries = [
      named('Verona', { channelId: 1 }),
      named('Veronica', { to: { kind: 'direct', userIds: [1] } }),
      named('verses', { detail: '#Verona', to: { kind: 'channel', channelId: 1, topic: 'verses' } }),
    ];
    expect(namesOf(ranked(entries, '#ver'))).toEqual(['Verona', 'verses']);
    expect(namesOf(ranked(entries, '#verona>verses'))).toEqual(['verses']);
    expect(namesOf(ranked(entries, 'verona > verses'))).toEqual(['verses']);
    expect(namesOf(ranked(entries, '@ver'))).toEqual(['Veronica']);
  });

  it('compares only names once they fill the list', () => {
    let compared = 0;
    const entries = Array.from({ length: 1000 }, (_, n) => ({
      ...named(n < 20 ? `plan ${n}` : `person ${n}`),
      get detail() {
        compared++;
        return '';
      },
    }));
    expect(ranked(entries, 'plan')).toHaveLength(10);
    expect(compared).toBe(0);
    expect(ranked(entries, 'other')).toEqual([]);
    expect(compared).toBe(2000);
  });
});

describe('rankedWithActions', () => {
  const topics = Array.from({ length: 6 }, (_, n) => {
    return named(`log ${n}`, { to: { kind: 'channel', channelId: 1, topic: `log ${n}` } });
  });

  it('returns at most three topics if an action matches', () => {
    const action = named('End session', { words: 'Log out' });
    expect(namesOf(rankedWithActions([...topics, action], 'log'))).toEqual(['log 0', 'log 1', 'log 2', 'End session']);
  });

  it('returns all topics if only these match', () => {
    expect(rankedWithActions([...topics, named('Set status')], 'log')).toHaveLength(6);
  });
});

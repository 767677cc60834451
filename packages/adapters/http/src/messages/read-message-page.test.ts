import { unsubscribeFromChannels } from '@parley/domain/channels';
import type { RealmUrls } from '@parley/domain/kernel';
import { GetMessages, type GetMessagesInput, PLAIN_TEXTS } from '@parley/domain/messages';
import { aChannel, aMessage, aUser, createFixture, type MemoryFixture } from '@parley/testkit';
import { MESSAGE_PARTS } from '../features.js';
import { YieldingScheduler } from '../limits/yielding.js';
import type { WireText } from '../wire/reply.js';
import { variantByKey } from '../wire/request.js';
import { MessagePagePresenter, readMessagePage } from './message-page.js';

const realmUrls: RealmUrls = { urlOf: () => 'https://chat.example', emailDomainOf: () => 'chat.example' };
const newest: GetMessagesInput['select'] = { anchor: { kind: 'newest' }, before: 100, after: 0, includeAnchor: true };

describe('readMessagePage', () => {
  let fixture: MemoryFixture;
  beforeEach(async () => {
    const long = (n: number) =>
      aMessage({
        from: 'hamlet',
        to: n % 2 ? 'odd' : 'even',
        topic: `t${n % 2}`,
        content: `${n}${'x'.repeat(99_999)}`,
      });
    fixture = await createFixture(
      aUser({ name: 'hamlet' }),
      aUser({ name: 'cordelia' }),
      aChannel({ name: 'odd', privacy: 'privateProtectedHistory', subscribers: ['hamlet', 'cordelia'] }),
      aChannel({ name: 'even', subscribers: ['hamlet', 'cordelia'] }),
      ...Array.from({ length: 40 }, (_, n) => long(n)),
    );
  });

  const read = (input: Partial<GetMessagesInput> = {}): Promise<WireText> =>
    readMessagePage(
      {
        useCase: new GetMessages(fixture.uow, realmUrls, PLAIN_TEXTS),
        caller: fixture.caller('cordelia'),
        page: new MessagePagePresenter(realmUrls),
        form: {
          asHtml: true,
          withExternalIds: true,
          clientGravatar: true,
          allowEmptyTopicName: false,
          client: variantByKey('standard'),
          parts: MESSAGE_PARTS,
        },
        scheduler: new YieldingScheduler(),
      },
      { narrow: [], select: newest, ...input },
    );
  /** Reads all parts; returns all fields and the length of each part. */
  const take = async ({ chunks, rest }: WireText, meanwhile: (part: number) => Promise<void> = async () => {}) => {
    const parts = [chunks.join('')];
    await meanwhile(0);
    for await (const part of rest ?? []) {
      parts.push(part.join(''));
      await meanwhile(parts.length - 1);
    }
    return { fields: JSON.parse(`{${parts.join('')}}`), lengths: parts.map((part) => part.length) };
  };
  const idsOf = (fields: { messages: { id: number }[] }) => fields.messages.map(({ id }) => id);
  const all = () => fixture.messages.map(({ id }) => id);

  it('splits a long page into short parts, each with its highlights', async () => {
    const { fields, lengths } = await take(await read());
    expect(idsOf(fields)).toEqual(all());
    expect(fields).toMatchObject({ found_oldest: true, found_newest: true, found_anchor: false });
    expect(lengths.length).toBeGreaterThan(2);
    expect(Math.max(...lengths)).toBeLessThan(2_300_000);
    expect(fields.messages[39]).toMatchObject({ flags: [], subject: 't1' });
  });

  it('shows the current state in every part of a long page', async () => {
    const [last, secondLast] = fixture.messages.slice(-2).reverse();
    const { fields } = await take(await read(), async (part) => {
      if (part !== 0) return;
      await fixture.uow.write(fixture.realm.id, async (tx) => {
        await tx.messages.remove(fixture.realm.id, [secondLast!.id]);
        await tx.personal.setFlag(fixture.viewer('cordelia'), [last!.id], 'starred', true);
      });
    });
    expect(idsOf(fields)).toEqual(all().filter((id) => id !== secondLast!.id));
    expect(fields.messages.at(-1).flags).toEqual(['starred']);
  });

  it('omits messages that the reader can no longer access', async () => {
    const { fields, lengths } = await take(await read(), async (part) => {
      if (part === 0) {
        await fixture.uow.write(fixture.realm.id, (tx) =>
          unsubscribeFromChannels(tx, [fixture.channel('odd')], [fixture.user('cordelia').id]),
        );
      }
    });
    expect(lengths.length).toBeGreaterThan(1);
    const names = fields.messages.map((message: { display_recipient: string }) => message.display_recipient);
    expect(names.slice(0, 10)).toContain('odd');
    expect(names.slice(25)).toEqual(Array.from(names.slice(25), () => 'even'));
  });

  it('returns valid JSON if no message of a page remains', async () => {
    const { fields } = await take(await read({ select: { ids: all().reverse() } }), async (part) => {
      if (part === 0)
        await fixture.uow.write(fixture.realm.id, (tx) => tx.messages.remove(fixture.realm.id, all()).then(() => {}));
    });
    expect(idsOf(fields)).toEqual(all().slice(0, fields.messages.length));
    expect(fields.messages.length).toBeLessThan(25);
  });

  it('returns only requested messages that match the narrow', async () => {
    const narrow = [{ operator: 'topic', operand: 't1', negated: false }];
    const odd = all().filter((_, n) => n % 2 === 1);
    const { fields } = await take(await read({ narrow, select: { ids: all() } }));
    expect(idsOf(fields)).toEqual(odd);
    const none = await take(await read({ narrow: [{ ...narrow[0]!, operand: 'none' }], select: { ids: all() } }));
    expect(none.fields.messages).toEqual([]);
  });
});

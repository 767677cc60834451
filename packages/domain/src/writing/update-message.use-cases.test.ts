import {
  aChannel,
  aRealmWith,
  aUserOfEachRole,
  countingReads,
  createFixture,
  FakeRenderer,
  fakeRealmUrls,
  intercepting,
  sending,
} from '@parley/testkit';
import { DomainError } from '../kernel/errors.js';
import type { MessageId } from '../kernel/ids.js';
import type { MarkdownOptions, MarkdownRenderer } from '../markdown/markdown.js';
import { MoveNotices } from './moves.js';
import { UserTextParser } from './render-message.js';
import { SystemMessages } from './system-messages.js';
import { UpdateMessage } from './update-message.use-cases.js';

/** Renderer that includes its options in the HTML. */
class TellingRenderer extends FakeRenderer implements MarkdownRenderer {
  readonly asked: ('before' | 'within')[] = [];

  override parse(content: string, options: MarkdownOptions) {
    this.asked.push('before');
    if (content === 'refused' && !options.translateEmoticons) {
      return Promise.reject(new DomainError('UNRENDERABLE_CONTENT', 'Unable to render message'));
    }
    return super.parse(told(content, options), options);
  }

  override parseNow(content: string, options: MarkdownOptions) {
    if (content.includes(' by ')) return super.parseNow(content, options);
    this.asked.push('within');
    return super.parseNow(told(content, options), options);
  }
}
const told = (content: string, { translateEmoticons, defaultCodeLanguage }: MarkdownOptions): string =>
  `${content} by ${translateEmoticons ? 'emoji' : 'letters'} ${defaultCodeLanguage || 'plain'}`;

/** Creates messages of two users and functions to edit them, and counts separate reads. */
async function editing() {
  const fixture = await createFixture(
    aUserOfEachRole(),
    aChannel({ name: 'general', subscribers: ['member', 'guest'] }),
  );
  const send = sending(fixture);
  const to = { kind: 'channelName', name: 'general' } as const;
  const ids = { member: (await send('member', to)).id, guest: (await send('guest', to)).id };
  const renderer = new TellingRenderer();
  const { uow, count } = countingReads(fixture.uow);
  const parser = new UserTextParser(uow, renderer, fakeRealmUrls);
  const systemMessages = new SystemMessages(renderer, fakeRealmUrls, fixture.clock);
  const notices = new MoveNotices(systemMessages, fakeRealmUrls, fixture.clock);
  /** Runs between parsing and the unit of work. */
  let meanwhile: () => Promise<unknown> = async () => {};
  const uowOfEdits = intercepting(uow, {
    write: async (work, run) => {
      await meanwhile();
      return run(work);
    },
  });
  const useCase = new UpdateMessage(uowOfEdits, parser, fixture.clock, (text) => text, notices);
  const edit = async (who: 'member' | 'guest', content: string, id: MessageId = ids[who]) => {
    await useCase.execute(fixture.caller(who), {
      messageId: id,
      content,
      topic: null,
      channelId: null,
      propagation: 'one',
      notifiesOldThread: false,
      notifiesNewThread: false,
      previousDigest: null,
    });
    return fixture.uow.read(
      fixture.realm.id,
      async (r) => (await r.messages.find(fixture.realm.id, id))!.renderedContent,
    );
  };
  return {
    ...{ fixture, ids, edit, renderer, parser },
    reads: count,
    atOnce: (change: () => Promise<unknown>) => {
      meanwhile = async () => {
        meanwhile = async () => {};
        await change();
      };
    },
    translateEmoticons: (who: string, translateEmoticons = true) =>
      fixture.add(async (_, tx) => {
        const user = (await tx.users.find(fixture.realm.id, fixture.user(who).id))!;
        await tx.users.update({ ...user, settings: { ...user.settings, translateEmoticons } });
      }),
  };
}

describe('UpdateMessage content parsing', () => {
  it('parses before the unit of work, looking up options once per author', async () => {
    const { edit, renderer, reads, translateEmoticons } = await editing();
    await translateEmoticons('guest');
    expect(await edit('member', 'one')).toBe('<p>one by letters plain</p>');
    expect(await edit('member', 'two')).toBe('<p>two by letters plain</p>');
    expect(reads()).toBe(1);
    expect(await edit('guest', 'three')).toBe('<p>three by emoji plain</p>');
    expect(await edit('member', 'four')).toBe('<p>four by letters plain</p>');
    expect(await edit('guest', 'five')).toBe('<p>five by emoji plain</p>');
    expect(reads()).toBe(2);
    expect(renderer.asked).toEqual(['before', 'before', 'before', 'before', 'before']);
  });

  it('reuses options cached when the author sent a message', async () => {
    const { edit, fixture, parser, reads } = await editing();
    await parser.parse(fixture.caller('member'), 'hello');
    expect(await edit('member', 'one')).toBe('<p>one by letters plain</p>');
    expect(reads()).toBe(1);
  });

  it('re-parses inside the unit of work if options changed after parsing', async () => {
    const { edit, fixture, renderer, atOnce, translateEmoticons } = await editing();
    await edit('member', 'one');
    const changes: readonly (readonly [change: () => Promise<unknown>, html: string])[] = [
      [() => translateEmoticons('member'), 'by emoji plain'],
      [() => fixture.add(aRealmWith({ settings: { defaultCodeBlockLanguage: 'elm' } })), 'by emoji elm'],
      [() => translateEmoticons('member', false), 'by letters elm'],
    ];
    for (const [change, html] of changes) {
      renderer.asked.length = 0;
      atOnce(change);
      expect(await edit('member', 'two')).toBe(`<p>two ${html}</p>`);
      expect(renderer.asked).toEqual(['before', 'within']);
      expect(await edit('member', 'three')).toBe(`<p>three ${html}</p>`);
      expect(renderer.asked).toEqual(['before', 'within', 'before']);
    }
  });

  it('rejects unrenderable content according to options inside the unit of work', async () => {
    const { edit, ids, atOnce, translateEmoticons } = await editing();
    await expect(edit('member', 'refused')).rejects.toMatchObject({ code: 'UNRENDERABLE_CONTENT' });
    // Users without edit permission learn nothing about the content.
    await expect(edit('guest', 'refused', ids.member)).rejects.toMatchObject({ code: 'CANNOT_EDIT_MESSAGE' });
    await expect(edit('guest', '\0', ids.member)).rejects.toMatchObject({ code: 'CANNOT_EDIT_MESSAGE' });
    await expect(edit('member', '\0')).rejects.toMatchObject({ code: 'INVALID_MESSAGE_CONTENT' });
    atOnce(() => translateEmoticons('member'));
    expect(await edit('member', 'refused')).toBe('<p>refused by emoji plain</p>');
  });
});

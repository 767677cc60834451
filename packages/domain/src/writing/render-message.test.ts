import {
  aChannel,
  aGroup,
  aMessage,
  anotherRealm,
  aRealmWith,
  aUser,
  aUserOfEachRole,
  createFixture,
  expectRefused,
  FakeRenderer,
  fakeRealmUrls,
  type MemoryFixture,
  sending,
  subscribe,
} from '@parley/testkit';
import { normalizeTopic, parseTopic } from '../channels/channel.js';
import { unsubscribeFromChannels } from '../channels/subscribing.js';
import type { MarkdownOptions, MarkdownRenderer } from '../markdown/markdown.js';
import { cutMarkdown, MAX_MESSAGE_LENGTH, parseContent } from '../messages/message.js';
import { markdownOptions, RenderMarkdown, renderText, UserTextParser } from './render-message.js';

const rendering = (fixture: MemoryFixture) => {
  const renderer = new FakeRenderer();
  const parser = new UserTextParser(fixture.uow, renderer, fakeRealmUrls);
  const useCase = new RenderMarkdown(fixture.uow, renderer, parser);
  return (who: string, content: string) => useCase.execute(fixture.caller(who), { content });
};
const cast = async () => {
  const fixture = await createFixture(
    aUserOfEachRole(),
    aUser({ name: 'robot', botOf: 'member' }),
    aGroup({ name: 'cooks' }),
    aChannel({ name: 'public' }),
    aChannel({ name: 'core', privacy: 'privateSharedHistory', subscribers: ['member', 'guest'] }),
    aChannel({ name: 'old', isArchived: true }),
    aMessage({ from: 'member', to: 'core', topic: 'plans' }),
  );
  await anotherRealm(fixture);
  return fixture;
};

describe('renderText', () => {
  it.each([[['former', 'present']], [['present', 'former']]])(
    'mentions the active user of two with the same name, created as %j',
    async (order) => {
      const users = {
        former: aUser({ name: 'former', fullName: 'Zoe', isActive: false }),
        present: aUser({ name: 'present', fullName: 'zoe' }),
      };
      const fixture = await createFixture(aUser({ name: 'writer' }), ...order.map((name) => users[name as 'former']));
      expect(await rendering(fixture)('writer', '@**Zoe**')).toContain('zoe');
    },
  );

  it.each([
    ['mentions users case-insensitively', 'guest', '@**OWNER**', '<em>owner</em>'],
    ['does not mention users of another realm', 'owner', '@**otherRealmUser**', '@**otherRealmUser**'],
    ['mentions groups case-insensitively', 'guest', '@*Cooks*', '<em>cooks</em>'],
    ['leaves unknown groups as text', 'guest', '@*cook*', '@*cook*'],
    ['leaves unknown users as text', 'guest', '@**nobody** @**x|9999**', '@**nobody** @**x|9999**'],
    ['links to readable channels', 'member', '#**core**', '<a>#core</a>'],
    ['links to archived channels', 'member', '#**old**', '<a>#old</a>'],
    ['does not link to channels spelled in another letter case', 'member', '#**CORE**', '#**CORE**'],
    ['does not link to unreadable channels', 'owner', '#**core**', '#**core**'],
    ['does not link to public channels for unsubscribed guests', 'guest', '#**public**', '#**public**'],
    ['does not link to channels of another realm', 'owner', '#**theirs**', '#**theirs**'],
  ])('%s', async (_, who, content, html) => {
    const fixture = await cast();
    expect(await rendering(fixture)(who, content)).toBe(`<p>${html}</p>`);
  });

  it.each([
    ['nobody', 'Nobody'],
    ['owners', 'Owners'],
    ['administrators', 'Administrators'],
    ['moderators', 'Moderators'],
    ['fullmembers', 'Full members'],
    ['members', 'Members'],
    ['everyone', 'Everyone'],
    ['internet', 'Everyone on the internet'],
  ])('shows the system group role:%s under its display name', async (name, title) => {
    expect(await rendering(await cast())('guest', `@*role:${name}*`)).toBe(`<p><em>${title}</em></p>`);
  });

  it('respects realm and author settings', async () => {
    const fixture = await cast();
    await fixture.add(
      aRealmWith({ settings: { defaultCodeBlockLanguage: 'elm', inlineImagePreview: false } }),
      async (theScene, tx) => {
        const member = theScene.user('member');
        await tx.users.update({ ...member, settings: { ...member.settings, translateEmoticons: true } });
      },
    );
    const plain = new FakeRenderer();
    const seen: MarkdownOptions[] = [];
    const spy: MarkdownRenderer = {
      parse: (content, options) => {
        seen.push(options);
        return plain.parse(content, options);
      },
      parseNow: (content, options) => plain.parseNow(content, options),
      render: (parsed, names) => plain.render(parsed, names),
      topicLinks: () => [],
    };
    const parser = new UserTextParser(fixture.uow, spy, fakeRealmUrls);
    const useCase = new RenderMarkdown(fixture.uow, spy, parser);
    for (const who of ['member', 'guest']) await useCase.execute(fixture.caller(who), { content: ':)' });
    const options = {
      realmUrl: fakeRealmUrls.urlOf(fixture.realm),
      linkifiers: [],
      defaultCodeLanguage: 'elm',
      mediaPreviews: false,
      emptyTopicName: 'general chat',
    };
    expect(seen).toMatchObject([
      { ...options, translateEmoticons: true },
      { ...options, translateEmoticons: false },
    ]);
  });

  it('does not resolve users hidden from a limited guest', async () => {
    const fixture = await cast();
    await fixture.add(aRealmWith({ permissionOverrides: { canAccessAllUsers: 'members' } }));
    const render = rendering(fixture);
    const owner = `@**owner|${fixture.user('owner').id}**`;
    expect(await render('guest', `@**owner** ${owner}`)).toBe(`<p>@**owner** ${owner}</p>`);
    expect(await render('guest', '@**member** @**robot** @**guest**')).toBe(
      '<p><em>member</em> <em>robot</em> <em>guest</em></p>',
    );
    expect(await render('member', owner)).toBe('<p><em>owner</em></p>');
  });

  describe('topic links (contract decision 25)', () => {
    const archive = async () => {
      const fixture = await createFixture(
        aUserOfEachRole(),
        aUser({ name: 'late', role: 'moderator' }),
        aChannel({ name: 'public', subscribers: ['guest'] }),
        aChannel({ name: 'web', privacy: 'webPublic' }),
        aChannel({ name: 'shared', privacy: 'privateSharedHistory' }),
        aChannel({ name: 'vault', privacy: 'privateProtectedHistory', subscribers: ['member'] }),
        aMessage({ from: 'member', to: 'public', topic: 'Plans' }),
        aMessage({ from: 'member', to: 'public', topic: 'other' }),
        aMessage({ from: 'member', to: 'web', topic: '' }),
        aMessage({ from: 'member', to: 'shared', topic: 'plans' }),
        aMessage({ from: 'member', to: 'vault', topic: 'plans' }),
        aMessage({ from: 'member', to: 'vault', topic: 'secret' }),
      );
      await fixture.uow.write(fixture.realm.id, async (tx) => {
        for (const name of ['shared', 'vault']) await subscribe(tx, fixture.channel(name), [fixture.user('late').id]);
        await subscribe(tx, fixture.channel('shared'), [fixture.user('guest').id]);
      });
      await fixture.add(
        aMessage({ from: 'member', to: 'vault', topic: 'plans' }),
        aMessage({ from: 'member', to: 'public', topic: 'plans' }),
      );
      return fixture;
    };

    it.each([
      ['the newest message', 'member', 'public', 'plans', 7],
      ['the newest message, case-insensitively', 'member', 'public', ' PLANS ', 7],
      ['the newest message of only that topic', 'member', 'public', 'other', 1],
      ['the newest message of the empty topic by its display name', 'member', 'web', 'general chat', 2],
      ['unreceived messages of a public channel', 'administrator', 'public', 'plans', 7],
      ['unreceived messages of a public channel to a subscribed guest', 'guest', 'public', 'plans', 7],
      ['messages of a web-public channel to an unsubscribed guest', 'guest', 'web', '(no topic)', 2],
      ['earlier messages of shared history', 'late', 'shared', 'plans', 3],
      ['earlier messages of shared history to a guest', 'guest', 'shared', 'plans', 3],
      ['received messages of protected history', 'late', 'vault', 'plans', 6],
      ['messages received as a subscriber', 'member', 'vault', 'secret', 5],
      ['no message of a topic without received messages', 'late', 'vault', 'secret', null],
      ['no message of a nonexistent topic', 'late', 'vault', 'nothing', null],
      ['no message of a nonexistent topic in a readable channel', 'member', 'public', 'nothing', null],
    ])('links to %s', async (_, who, channel, topic, index) => {
      const fixture = await archive();
      const id = index === null ? '' : fixture.messages[index]!.id;
      expect(await rendering(fixture)(who, `#**${channel}>${topic}**`)).toBe(
        `<p><a>#${channel}&gt;${topic}/${id}</a></p>`,
      );
    });

    it('links several topics of several channels', async () => {
      const fixture = await archive();
      const [first, second] = [fixture.messages[7]!.id, fixture.messages[6]!.id];
      const html = await rendering(fixture)('late', '#**public>plans** #**vault>plans** #**vault>secret** #**shared**');
      expect(html).toBe(
        `<p><a>#public&gt;plans/${first}</a> <a>#vault&gt;plans/${second}</a> <a>#vault&gt;secret/</a> <a>#shared</a></p>`,
      );
    });

    it("does not link topics of a notice's channel after the author has left it", async () => {
      const fixture = await archive();
      await fixture.uow.write(fixture.realm.id, (tx) =>
        unsubscribeFromChannels(tx, [fixture.channel('vault')], [fixture.user('late').id]),
      );
      const html = await fixture.uow.read(fixture.realm.id, async (r) => {
        const renderer = new FakeRenderer();
        const actor = await r.actors.get(fixture.caller('late'));
        const parsed = renderer.parseNow('#**vault** #**vault>plans**', markdownOptions(fixture.realm, ''));
        const author = { actor, about: [fixture.channel('vault')] };
        return (await renderText(r, renderer, parsed, fixture.realm, author)).html;
      });
      expect(html).toBe('<p><a>#vault</a> <a>#vault&gt;plans/</a></p>');
    });

    it('keeps the link as text if the channel is hidden', async () => {
      const fixture = await archive();
      for (const who of ['owner', 'moderator', 'guest']) {
        expect(await rendering(fixture)(who, '#**vault>plans**')).toBe('<p>#**vault&gt;plans**</p>');
      }
    });

    it('stores the same links when a message is sent', async () => {
      const fixture = await archive();
      await sending(fixture)(
        'late',
        { kind: 'channelName', name: 'public' },
        { content: '#**vault>plans** #**vault>secret**' },
      );
      const sent = await fixture.uow.read(fixture.realm.id, (r) => r.personal.newestId(fixture.viewer('guest')));
      const message = await fixture.uow.read(fixture.realm.id, (r) => r.messages.find(fixture.realm.id, sent!));
      expect(message!.renderedContent).toBe(
        `<p><a>#vault&gt;plans/${fixture.messages[6]!.id}</a> <a>#vault&gt;secret/</a></p>`,
      );
    });
  });

  it('does not trim, truncate or store previewed text and allows any mention', async () => {
    const fixture = await cast();
    const render = rendering(fixture);
    const { commits } = fixture.storage;
    expect(await render('member', '')).toBe('');
    expect(await render('member', ' a \n')).toBe('<p> a \n</p>');
    expect(await render('member', '@*role:owners* @**all**')).toBe('<p><em>Owners</em> <em>all</em></p>');
    expect(await render('member', '😀'.repeat(MAX_MESSAGE_LENGTH))).toHaveLength(2 * MAX_MESSAGE_LENGTH + 7);
    expect(fixture.storage.commits).toBe(commits);
    await expectRefused(fixture, () => render('member', '😀'.repeat(MAX_MESSAGE_LENGTH + 1)), {
      code: 'UNRENDERABLE_CONTENT',
      message: 'Unable to render message',
    });
  });
});

describe('parseContent', () => {
  it.each([
    ['  hi \n\n', '  hi'],
    ['\n\nhi', 'hi'],
    [' \nhi', ' \nhi'],
    ['a'.repeat(10_000), 'a'.repeat(10_000)],
    [`${'a'.repeat(10_000)} \n`, 'a'.repeat(10_000)],
    ['a'.repeat(10_001), `${'a'.repeat(9980)}\n[message truncated]`],
  ])('normalizes accepted content (%#)', (raw, kept) => expect(parseContent(raw)).toBe(kept));

  it.each([
    ['', 'Message must not be empty'],
    [' \n\t', 'Message must not be empty'],
    ['a\0', 'Message must not contain null bytes'],
  ])('rejects %j', (raw, message) => expect(() => parseContent(raw)).toThrow(message));
});

describe('cutMarkdown', () => {
  it.each([
    ['short `x`', 100, 'short `x`'],
    ['a'.repeat(50), 40, `${'a'.repeat(20)}\n[message truncated]`],
    [`\`a\` b \`${'c'.repeat(50)}\``, 40, '`a` b \n[message truncated]'],
    [`a \`\`b \` ${'c'.repeat(50)}\`\``, 40, 'a \n[message truncated]'],
    [`\`\na \`b\` ${'c'.repeat(50)}`, 32, '`\na `b` cccc\n[message truncated]'],
  ])('truncates %j outside inline code', (markdown, max, kept) => expect(cutMarkdown(markdown, max)).toBe(kept));
});

describe('parseTopic and normalizeTopic', () => {
  it.each([
    [' Lunch ', 'Lunch'],
    ['(no topic)', ''],
    ['general chat', ''],
    ['General chat', 'General chat'],
    ['é'.repeat(60), 'é'.repeat(60)],
    ['é'.repeat(61), `${'é'.repeat(57)}...`],
  ])('parses the topic %j as %j', (raw, topic) => expect(parseTopic(raw)).toBe(topic));

  it('normalizes a name with a control character to a key that no valid topic has', () =>
    expect(normalizeTopic(' a\u0001 ')).toBe('a\u0001'));
  it('rejects an invalid character by its position after trimming and before truncation', () =>
    expect(() => parseTopic(` ${'a'.repeat(70)}\u0001`)).toThrow('Invalid character in topic, at position 71!'));
});

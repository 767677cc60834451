import { aChannel, aRealmWith, aUser, createFixture, fakeRealmUrls, sending } from '@parley/testkit';
import type { EventSeq, MessageId, RealmId } from '../kernel/ids.js';
import type { StoredJob } from '../kernel/jobs.js';
import { decodeJob } from '../kernel/jobs.js';
import type { PagePreview, RenderedMessages } from '../markdown/markdown.js';
import { LINK_PREVIEW_JOB, MAX_PREVIEWS, PreviewLinks, planLinkPreviews } from './link-previews.js';

const LINK = '<p><a href="https://a.example/">x</a></p>';

/** HTML of the test renderer has no links, so previews are planned directly. */
async function previewing(isOn = true) {
  const fixture = await createFixture(
    aRealmWith({ settings: { inlineUrlEmbedPreview: isOn } }),
    aUser({ name: 'ann' }),
    aChannel({ name: 'general', subscribers: ['ann'] }),
  );
  const { realm, uow, clock } = fixture;
  const send = sending(fixture);
  const links: string[] = ['https://a.example/'];
  const fetched: string[] = [];
  const rendered = {
    previewableLinks: () => links,
    showPreviews: (html: string, previews: ReadonlyMap<string, PagePreview>) =>
      html + [...previews].map(([url, { title, picture }]) => ` ${url} ${title} ${picture}`).join(''),
  } as unknown as RenderedMessages;
  let duringFetch: () => Promise<unknown> = async () => {};
  const fetcher = {
    fetch: async (url: string) => {
      fetched.push(url);
      await duringFetch();
      return url.includes('nothing') ? null : { title: 'T', description: null, picture: 'https://a.example/p' };
    },
  };
  const paths = { pathOf: (url: string) => `/signed/${url.length}`, urlOf: () => null };
  const handler = new PreviewLinks(uow, rendered, fetcher, paths, fakeRealmUrls, clock);
  const waiting = () =>
    uow.readAcross(({ jobs }) => jobs.listDue({ kind: LINK_PREVIEW_JOB.name, maxFormat: 1 }, clock.now(), 1000));
  return {
    ...{ fixture, links, fetched, waiting },
    say: async () => (await send('ann', { kind: 'channelName', name: 'general' })).id,
    plan: (messageId: MessageId, html = LINK, sender = fixture.user('ann')) =>
      uow.write(realm.id, async (tx) =>
        planLinkPreviews(tx, await tx.realms.get(realm.id), sender, messageId, html, clock.now()),
      ),
    run: async (job: StoredJob) => {
      const work = await handler.prepare(decodeJob(LINK_PREVIEW_JOB, job));
      await uow.write(realm.id, work);
    },
    during: (change: () => Promise<unknown>) => {
      duringFetch = change;
    },
    htmlOf: (id: MessageId) =>
      uow.read(realm.id, async ({ messages }) => (await messages.find(realm.id, id))!.renderedContent),
    turnOff: () =>
      uow.write(realm.id, async (tx) => {
        const { settings, ...rest } = await tx.realms.get(realm.id as RealmId);
        await tx.realms.update({ ...rest, settings: { ...settings, inlineUrlEmbedPreview: false } });
      }),
  };
}

describe('planLinkPreviews', () => {
  it.each([
    ['a job for a link', true, LINK, 1],
    ['no job while previews are off', false, LINK, 0],
    ['no job for a text without links', true, '<p>https</p>', 0],
    ['no job for a link within the organization', true, '<p><a href="/#narrow">x</a></p>', 0],
  ])('plans %s', async (_what, isOn, html, count) => {
    const { plan, say, waiting } = await previewing(isOn);
    await plan(await say(), html);
    expect(await waiting()).toHaveLength(count);
  });

  it('keeps the newest 50 messages of a sender waiting', async () => {
    const { plan, waiting } = await previewing();
    for (let id = 1; id <= 120; id++) await plan(id as MessageId);
    const ids = (await waiting()).map((job) => decodeJob(LINK_PREVIEW_JOB, job).payload.messageId);
    expect(ids.sort((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, n) => 71 + n));
  });
});

describe('PreviewLinks', () => {
  it('adds previews with signed pictures and publishes the HTML', async () => {
    const { plan, say, waiting, run, htmlOf, fixture, links } = await previewing();
    links.push('https://a.example/nothing');
    const id = await say();
    await plan(id);
    await run((await waiting())[0]!);
    expect(await htmlOf(id)).toBe('<p>hello</p> https://a.example/ T /signed/19');
    const events = await fixture.storage.uow.read(fixture.realm.id, (reads) =>
      reads.events.listAfter(fixture.realm.id, 0 as EventSeq, 1000, 1_000_000),
    );
    expect(events.at(-1)).toMatchObject({
      event: { type: 'message.rerendered', messageId: id, content: 'hello', rendered: await htmlOf(id) },
    });
  });

  it('fetches a limited number of pages', async () => {
    const { plan, say, waiting, run, links, fetched } = await previewing();
    links.push(...Array.from({ length: 20 }, (_, n) => `https://b.example/${n}`));
    await plan(await say());
    await run((await waiting())[0]!);
    expect(fetched).toHaveLength(MAX_PREVIEWS);
  });

  it('changes nothing if the text or the setting changes, or the message disappears, during the requests', async () => {
    for (const change of ['text', 'setting', 'message'] as const) {
      const { plan, say, waiting, run, during, htmlOf, fixture, turnOff } = await previewing();
      const id = await say();
      await plan(id);
      during(async () => {
        if (change === 'setting') return turnOff();
        return fixture.add(async (_, tx) => {
          const message = (await tx.messages.find(fixture.realm.id, id))!;
          if (change === 'message') await tx.messages.remove(fixture.realm.id, [id]);
          else {
            const edited = { ...message, content: 'other', editedAt: fixture.clock.now(), exceptions: new Map() };
            await tx.messages.edit(fixture.realm.id, id, edited);
          }
        });
      });
      await run((await waiting())[0]!);
      if (change !== 'message') expect([change, await htmlOf(id)]).toEqual([change, '<p>hello</p>']);
    }
  });
});

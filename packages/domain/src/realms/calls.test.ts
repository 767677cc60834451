import { aUserOfEachRole, createFixture, expectRefused, type MemoryFixture, SeededRandomness } from '@parley/testkit';
import { DomainError } from '../kernel/errors.js';
import {
  CreateMeetingLink,
  JoinMeeting,
  type Meeting,
  type MeetingLinks,
  type MeetingServer,
  type Participant,
} from './calls.js';

/** Fake links without a signature. */
const openLinks: MeetingLinks = {
  sign: (meeting) => JSON.stringify(meeting),
  read: (text) => (text.startsWith('{') ? (JSON.parse(text) as Meeting) : null),
};

class RecordingServer implements MeetingServer {
  readonly joined: (Participant & { readonly meeting: Meeting })[] = [];

  async join(meeting: Meeting, participant: Participant): Promise<string> {
    this.joined.push({ meeting, ...participant });
    return `https://meet.example.com/${meeting.key}`;
  }
}

const randomness = new SeededRandomness(1);
const linkBy = (fixture: MemoryFixture, who: string) =>
  new CreateMeetingLink(fixture.uow, openLinks, randomness).execute(fixture.caller(who), {
    name: 'Hall',
    isVoiceOnly: true,
  });

describe('CreateMeetingLink and JoinMeeting', () => {
  it('makes only the creator of the link the moderator', async () => {
    const fixture = await createFixture(aUserOfEachRole());
    const server = new RecordingServer();
    const link = await linkBy(fixture, 'guest');
    const join = new JoinMeeting(fixture.uow, openLinks, server);
    const meeting = {
      realmId: fixture.realm.id,
      key: expect.stringMatching(/^parley-/),
      name: 'Hall',
      isVoiceOnly: true,
      moderatorId: fixture.user('guest').id,
    };
    for (const who of ['guest', 'owner']) {
      expect(await join.execute(fixture.caller(who), { link })).toMatch(/^https:\/\/meet\.example\.com\/parley-/);
    }
    expect(server.joined).toEqual([
      { meeting, fullName: fixture.user('guest').fullName, isModerator: true },
      { meeting, fullName: fixture.user('owner').fullName, isModerator: false },
    ]);
  });

  it('creates a new meeting for each link', async () => {
    const fixture = await createFixture(aUserOfEachRole());
    const keys = [await linkBy(fixture, 'member'), await linkBy(fixture, 'member')].map(
      (it) => openLinks.read(it)?.key,
    );
    expect(new Set(keys).size).toBe(2);
  });

  it('rejects links of other realms and invalid links', async () => {
    const fixture = await createFixture(aUserOfEachRole());
    const server = new RecordingServer();
    const join = new JoinMeeting(fixture.uow, openLinks, server);
    const meeting = openLinks.read(await linkBy(fixture, 'member'))!;
    const foreign = openLinks.sign({ ...meeting, realmId: (fixture.realm.id + 1) as Meeting['realmId'] });
    for (const link of [foreign, 'nothing']) {
      await expectRefused(fixture, () => join.execute(fixture.caller('member'), { link }), {
        code: 'INVALID_MEETING_LINK',
      });
    }
    expect(server.joined).toEqual([]);
  });

  it('rejects joining without a meeting server before reading the link', async () => {
    const fixture = await createFixture(aUserOfEachRole());
    const join = new JoinMeeting(fixture.uow, openLinks, null);
    for (const link of [await linkBy(fixture, 'member'), 'nothing']) {
      await expectRefused(fixture, () => join.execute(fixture.caller('member'), { link }), {
        code: 'CALL_PROVIDER_UNAVAILABLE',
      });
    }
  });

  it('passes on errors of the meeting server', async () => {
    const fixture = await createFixture(aUserOfEachRole());
    const failing: MeetingServer = {
      join: () => Promise.reject(new DomainError('MEETING_SERVER_UNREACHABLE', 'gone')),
    };
    const link = await linkBy(fixture, 'member');
    await expectRefused(
      fixture,
      () => new JoinMeeting(fixture.uow, openLinks, failing).execute(fixture.caller('member'), { link }),
      { code: 'MEETING_SERVER_UNREACHABLE' },
    );
  });
});

import type { AddressInfo } from 'node:net';
import { createServer, type Server } from 'node:net';
import { BerReader, BerWriter, ProtocolOperation } from 'ldapts';
import { type LdapAccount, ldapDirectories } from './ldap.js';

/** Maximum number of group members returned at a time by Active Directory. */
const RANGE = 1500;
const BASE = 'DC=example,DC=com';
const GROUP = `CN=Chiefs,OU=Groups,${BASE}`;
const dnOf = (index: number) => `CN=person${index},OU=People,${BASE}`;

type Attributes = Readonly<Record<string, readonly string[]>>;
interface Search {
  readonly base: string;
  /** Requested range start; null without a range. */
  readonly from: number | null;
}

/** LDAP server that returns members in ranges, like Active Directory. */
class RangingServer {
  private readonly server: Server;

  constructor(
    private readonly members: readonly number[],
    private readonly people: readonly number[],
    private readonly lastReadable = Number.POSITIVE_INFINITY,
  ) {
    this.server = createServer((socket) => {
      socket.on('data', (bytes) => socket.write(this.respond(bytes)));
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return `ldap://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.server.close();
  }

  private respond(bytes: Buffer): Buffer {
    const reader = new BerReader(bytes);
    reader.readSequence();
    const id = reader.readInt()!;
    if (reader.peek() !== ProtocolOperation.LDAP_REQ_SEARCH) return Buffer.alloc(0);
    reader.readSequence();
    const base = reader.readString()!;
    const from = /member;range=(\d+)-\*/.exec(bytes.toString('latin1'))?.[1];
    const entries = this.entriesFor({ base, from: from === undefined ? null : Number(from) });
    const parts = entries.map(([dn, attributes]) =>
      messageOf(id, ProtocolOperation.LDAP_RES_SEARCH_ENTRY, (writer) => writeEntry(writer, dn, attributes)),
    );
    const done = messageOf(id, ProtocolOperation.LDAP_RES_SEARCH, (writer) => {
      writer.writeEnumeration(0);
      writer.writeString('');
      writer.writeString('');
    });
    return Buffer.concat([...parts, done]);
  }

  private entriesFor({ base, from }: Search): readonly [dn: string, attributes: Attributes][] {
    if (base === `OU=People,${BASE}`) {
      return this.people.map((index) => [
        dnOf(index),
        { entryUUID: [`id-${index}`], mail: [`person${index}@example.com`], cn: [`Person ${index}`] },
      ]);
    }
    if (from !== null && from > this.lastReadable) return [];
    const first = from ?? 0;
    const some = this.members.slice(first, first + RANGE).map(dnOf);
    const end = first + RANGE >= this.members.length ? '*' : first + RANGE - 1;
    return [[GROUP, { cn: ['Chiefs'], member: [], [`member;range=${first}-${end}`]: some }]];
  }
}

function messageOf(id: number, operation: number, write: (writer: BerWriter) => void): Buffer {
  const writer = new BerWriter();
  writer.startSequence();
  writer.writeInt(id);
  writer.startSequence(operation);
  write(writer);
  writer.endSequence();
  writer.endSequence();
  return writer.buffer;
}

function writeEntry(writer: BerWriter, dn: string, attributes: Attributes): void {
  writer.writeString(dn);
  writer.startSequence();
  for (const [type, values] of Object.entries(attributes)) {
    writer.startSequence();
    writer.writeString(type);
    writer.startSequence(0x31);
    for (const value of values) writer.writeString(value);
    writer.endSequence();
    writer.endSequence();
  }
  writer.endSequence();
}

const accountAt = (url: string): LdapAccount => ({
  name: 'company',
  realm: '',
  url,
  startTls: false,
  caFile: null,
  bindDn: null,
  bindPassword: null,
  bindPasswordFile: null,
  baseDn: `OU=People,${BASE}`,
  userFilter: '(objectClass=user)',
  attributes: { id: 'entryUUID', email: 'mail', name: 'cn', picture: null },
  groups: {
    baseDn: `OU=Groups,${BASE}`,
    filter: '(objectClass=group)',
    memberAttribute: 'member',
    nameAttribute: 'cn',
    required: [],
    roles: new Map([['Chiefs', 'moderator']]),
    defaultRole: 'member',
  },
  createsPeople: true,
  syncMinutes: 0,
});

let server: RangingServer;
afterEach(() => server.close());

/** Returns the users in a directory with a group of the first `memberCount` users. */
async function peopleOf(memberCount: number, lastReadable?: number) {
  const members = Array.from({ length: memberCount }, (_, index) => index);
  server = new RangingServer(members, [0, 1499, 1500, 2999, 3000, 3999], lastReadable);
  const [directory] = await ldapDirectories([accountAt(await server.listen())]);
  return directory!.listPeople();
}

it.each([
  [2, 1],
  [1500, 2],
  [1501, 3],
  [3000, 4],
  [4000, 6],
])('reads all %i members of an LDAP group in ranges', async (memberCount, moderators) => {
  const roles = (await peopleOf(memberCount)).map(({ role }) => role?.role);
  expect(roles).toEqual(Array.from({ length: 6 }, (_, index) => (index < moderators ? 'moderator' : 'member')));
});

it('fails instead of returning a partial LDAP member list', async () => {
  await expect(peopleOf(4000, 2000)).rejects.toThrow(`only 3000 members of ${GROUP} can be read`);
});

import type { Socket } from 'node:net';
import { AnswerReader } from './answer-reader.js';
import { openConnection } from './connection.js';

/** Message, or the acknowledgement of a send, that arrived at a session. */
export interface Received {
  readonly mark: string;
  /** True if the server has stored the session's own message. */
  readonly isAcknowledgement: boolean;
  /** True if a waiting client received the message. */
  readonly isForReader: boolean;
}

export type OnReceived = (session: ChatSession, received: Received) => void;

/** One person in a chat. */
export interface ChatSession {
  /** Sends the text of all messages with this mark in it. */
  send(mark: string): void;
}

const TEXT = 'The build is green again, the report is attached to the ticket, and lunch is at noon.';
/** Placeholder in requests, as long as a mark. */
export const MARK = 'k00000000z';
/** Content of messages. */
export const CONTENT = `${TEXT} ${MARK}`;
const MARKS = /k\d{8}z/g;

/** Occupant of a room of XEP-0045. The room acknowledges a message by sending it to its sender, too. */
export class XmppSession implements ChatSession {
  private text = '';
  private onText: () => void = () => {};
  private socket!: Socket;

  private constructor(
    private readonly room: string,
    private readonly name: string,
  ) {}

  static async join(port: number, room: string, name: string, onReceived: OnReceived): Promise<XmppSession> {
    const session = new XmppSession(room, name);
    session.socket = await openConnection(port, (chunk) => {
      session.text += chunk.toString('latin1');
      session.onText();
    });
    const begin =
      "<stream:stream to='localhost' xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' version='1.0'>";
    await session.ask(begin, '</stream:features>');
    await session.ask("<auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' mechanism='ANONYMOUS'/>", '<success');
    await session.ask(begin, '</stream:features>');
    await session.ask("<iq type='set' id='b'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/></iq>", '</iq>');
    const muc = "<x xmlns='http://jabber.org/protocol/muc'><history maxstanzas='0'/></x>";
    await session.ask(`<presence to='${room}/${name}'>${muc}</presence>`, '<subject/></message>');
    session.text = '';
    session.onText = () => session.takeMessages(onReceived);
    return session;
  }

  send(mark: string): void {
    this.socket.write(
      `<message to='${this.room}' type='groupchat'><body>${CONTENT.replace(MARK, mark)}</body></message>`,
    );
  }

  /** Resolves when the server has sent the text. */
  private ask(request: string, end: string): Promise<void> {
    this.text = '';
    this.socket.write(request);
    return new Promise((resolve, reject) => {
      this.onText = () => {
        if (this.text.includes(end)) resolve();
        else if (/<failure|<stream:error|type='error'/.test(this.text)) reject(new Error(this.text));
      };
    });
  }

  private takeMessages(onReceived: OnReceived): void {
    for (;;) {
      const end = this.text.indexOf('</message>');
      if (end < 0) return;
      const message = this.text.slice(0, end);
      this.text = this.text.slice(end + '</message>'.length);
      const [mark] = message.match(MARKS)!;
      const isAcknowledgement = message.includes(`from='${this.room}/${this.name}'`);
      onReceived(this, { mark, isAcknowledgement, isForReader: true });
    }
  }
}

/** Complete requests of a person. */
export interface ParleyPerson {
  /** Sends a message with `CONTENT`. */
  readonly send: string;
  /** Poll with `{last}` in place of the last received event, or a stream; null for someone who only sends. */
  readonly wait: string | null;
  readonly isStreamed: boolean;
}

/** Sends on one connection and waits on another one. */
export class ParleySession implements ChatSession {
  private sending!: Socket;
  private mark = '';

  private constructor(private readonly person: ParleyPerson) {}

  static async open(port: number, person: ParleyPerson, onReceived: OnReceived): Promise<ParleySession> {
    const session = new ParleySession(person);
    const acknowledge = () => onReceived(session, { mark: session.mark, isAcknowledgement: true, isForReader: false });
    session.sending = await connect(port, acknowledge);
    const { wait, isStreamed } = person;
    const take = (mark: string) => onReceived(session, { mark, isAcknowledgement: false, isForReader: true });
    if (wait !== null) await (isStreamed ? openStream(port, wait, take) : openPolls(port, wait, take));
    return session;
  }

  send(mark: string): void {
    this.mark = mark;
    this.sending.write(this.person.send.replace(MARK, mark), 'latin1');
  }
}

async function openPolls(port: number, request: string, take: (mark: string) => void): Promise<void> {
  const poll = (last: number) => socket.write(request.replace('{last}', String(last)), 'latin1');
  const socket = await connect(port, (body) => {
    const { events } = JSON.parse(body.toString()) as { events: { id: number; message?: { content: string } }[] };
    poll(events.at(-1)!.id);
    for (const { message } of events) if (message) take(message.content.match(MARKS)![0]);
  });
  poll(-1);
}

async function openStream(port: number, request: string, take: (mark: string) => void): Promise<void> {
  let text = '';
  const socket = await openConnection(port, (chunk) => {
    text += chunk.toString('latin1');
    const end = text.lastIndexOf('\n\n') + 2;
    for (const mark of text.slice(0, end).match(/"content":"[^"]*/g) ?? []) take(mark.match(MARKS)![0]);
    text = text.slice(end);
  });
  socket.write(request.replace('{last}', '-1'), 'latin1');
}

/** @throws Error for a refused request, which ends the process */
async function connect(port: number, onAnswer: (body: Buffer) => void): Promise<Socket> {
  const reader = new AnswerReader(true, ({ status }, body) => {
    if (status !== 200) throw new Error(`A request failed with status ${status}: ${body}`);
    onAnswer(body);
  });
  return openConnection(port, (chunk) => reader.take(chunk));
}

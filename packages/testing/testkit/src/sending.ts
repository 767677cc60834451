import type { MessageId } from '@parley/domain/kernel';
import {
  BotOwnerWarnings,
  HostReview,
  MessageSender,
  MoveNotices,
  SendMessage,
  type SendMessageInput,
  type SentMessage,
  SystemMessages,
  UpdateMessage,
  type UpdateMessageInput,
  UserTextParser,
} from '@parley/domain/writing';
import type { Fixture } from './builders.js';
import { anyData, fakeRealmUrls } from './fake-ports.js';
import { FakeRenderer } from './fake-renderer.js';

/** Sends messages like the API; by default `hello` to topic `plans`, read by the sender. */
export function sending(fixture: Pick<Fixture, 'uow' | 'clock' | 'caller'>, renderer = new FakeRenderer()) {
  const systemMessages = new SystemMessages(renderer, fakeRealmUrls, fixture.clock);
  const botOwnerWarnings = new BotOwnerWarnings(fixture.uow, systemMessages, fixture.clock);
  const parser = new UserTextParser(fixture.uow, renderer, fakeRealmUrls);
  const review = new HostReview(fixture.uow, fakeRealmUrls, anyData, (text) => text);
  const sender = new MessageSender(fixture.uow, parser, fakeRealmUrls, fixture.clock, botOwnerWarnings, review);
  const useCase = new SendMessage(sender, fixture.clock);
  return (who: string, to: SendMessageInput['to'], draft: Partial<SendMessageInput> = {}): Promise<SentMessage> =>
    useCase.execute(fixture.caller(who), {
      to,
      topic: 'plans',
      content: 'hello',
      isReadBySender: true,
      echo: null,
      ...draft,
    });
}

/** Edits and moves messages like the API; by default the whole topic without notices. */
export function updating({ uow, clock, caller }: Pick<Fixture, 'uow' | 'clock' | 'caller'>) {
  const renderer = new FakeRenderer();
  const notices = new MoveNotices(new SystemMessages(renderer, fakeRealmUrls, clock), fakeRealmUrls, clock);
  const parser = new UserTextParser(uow, renderer, fakeRealmUrls);
  const useCase = new UpdateMessage(uow, parser, clock, (text) => text, notices);
  return async (who: string, messageId: MessageId, change: Partial<UpdateMessageInput>): Promise<void> => {
    await useCase.execute(caller(who), {
      ...{ messageId, content: null, topic: null, channelId: null, propagation: 'all' },
      ...{ notifiesOldThread: false, notifiesNewThread: false, previousDigest: null, ...change },
    });
  };
}

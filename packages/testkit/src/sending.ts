import { NoticeBoard, SendMessage, type SendMessageInput, type SentMessage, UnheardBots } from '@parley/domain';
import type { MemoryScene } from './builders.js';
import { plainAddresses } from './plain-ports.js';
import { PlainRenderer } from './plain-renderer.js';

/** Sends as the API does; what a story says nothing of is `hello` about `plans`, read by the sender. */
export function sending(scene: MemoryScene, renderer = new PlainRenderer()) {
  const notices = new NoticeBoard(renderer, plainAddresses, scene.clock);
  const unheardBots = new UnheardBots(scene.uow, notices, scene.clock);
  const useCase = new SendMessage(scene.uow, renderer, plainAddresses, scene.clock, unheardBots);
  return (who: string, to: SendMessageInput['to'], draft: Partial<SendMessageInput> = {}): Promise<SentMessage> =>
    useCase.execute(scene.caller(who), {
      to,
      topic: 'plans',
      content: 'hello',
      isReadBySender: true,
      echo: null,
      ...draft,
    });
}

import { AddReaction, RemoveReaction } from '@parley/domain/reactions';
import { ContainerModule } from 'inversify';
import { provide } from '../provide.js';
import { TOKENS } from '../tokens.js';

const { unitOfWork, unicodeEmoji, clock } = TOKENS;

export const reactionsModule = new ContainerModule(({ bind }) => {
  provide(bind, AddReaction, unitOfWork, unicodeEmoji, clock);
  provide(bind, RemoveReaction, unitOfWork, unicodeEmoji);
});

import { ChangeDraft, CreateDrafts, DeleteDraft, ListDrafts } from '@parley/domain/drafts';
import { ContainerModule } from 'inversify';
import { provide } from '../provide.js';
import { TOKENS } from '../tokens.js';

const { unitOfWork, clock } = TOKENS;

export const draftsModule = new ContainerModule(({ bind }) => {
  provide(bind, ListDrafts, unitOfWork);
  provide(bind, CreateDrafts, unitOfWork, clock);
  provide(bind, ChangeDraft, unitOfWork, clock);
  provide(bind, DeleteDraft, unitOfWork);
});

import { ChangeSnippet, CreateSnippet, DeleteSnippet, ListSnippets } from '@parley/domain/snippets';
import { ContainerModule } from 'inversify';
import { provide } from '../provide.js';
import { TOKENS } from '../tokens.js';

const { unitOfWork, clock } = TOKENS;

export const snippetsModule = new ContainerModule(({ bind }) => {
  provide(bind, ListSnippets, unitOfWork);
  provide(bind, CreateSnippet, unitOfWork, clock);
  provide(bind, ChangeSnippet, unitOfWork);
  provide(bind, DeleteSnippet, unitOfWork);
});

import type { Resolve } from '@parley/domain/composition';
import type { Caller, Clock, UnitOfWork } from '@parley/domain/kernel';
import { SystemMessages } from '@parley/domain/writing';
import { NoParameters } from '../params/params.js';
import { success } from '../wire/reply.js';
import { route } from './route.js';

class UseCase {
  constructor(
    readonly uow: UnitOfWork,
    readonly clock: Clock,
    readonly messages: SystemMessages,
  ) {}

  async execute(_caller: Caller): Promise<void> {}
}

class Right extends UseCase {
  static readonly inject = ['unitOfWork', 'clock', SystemMessages] as const;
}
class ByName extends UseCase {
  static readonly inject = ['unitOfWork', 'clock', 'systemMessages'] as const;
}
class Missing extends UseCase {
  static readonly inject = ['unitOfWork', 'clock'] as const;
}
class Superfluous extends UseCase {
  static readonly inject = ['unitOfWork', 'clock', SystemMessages, 'randomness'] as const;
}
class Swapped extends UseCase {
  static readonly inject = ['clock', 'unitOfWork', SystemMessages] as const;
}
class WrongPort extends UseCase {
  static readonly inject = ['unitOfWork', 'randomness', SystemMessages] as const;
}
class UnknownPort extends UseCase {
  static readonly inject = ['unitOfWork', 'clok', SystemMessages] as const;
}
class WrongClass extends UseCase {
  static readonly inject = ['unitOfWork', 'clock', Right] as const;
}
class Undeclared extends UseCase {}
class OfWrong {
  static readonly inject = [Swapped] as const;
  constructor(readonly swapped: Swapped) {}
  async execute(_caller: Caller): Promise<void> {}
}

const spec = { auth: 'user', scope: 'account', dto: NoParameters } as const;
const handle = async () => success();

it("route accepts a use case that injects its constructor's parameters", () => {
  expect(route('GET', '/x', { summary: null, ...spec, useCase: Right }).useCase).toBe(Right);
  expect(route('GET', '/x', { summary: null, ...spec, useCase: ByName, handle }).useCase).toBe(ByName);
});

it('route does not compile if a dependency is missing, superfluous, swapped, wrong or unknown', () => {
  // @ts-expect-error a dependency is missing
  route('GET', '/x', { summary: null, ...spec, useCase: Missing });
  // @ts-expect-error a dependency is superfluous
  route('GET', '/x', { summary: null, ...spec, useCase: Superfluous });
  // @ts-expect-error two dependencies are swapped
  route('GET', '/x', { summary: null, ...spec, useCase: Swapped });
  // @ts-expect-error a port has another type
  route('GET', '/x', { summary: null, ...spec, useCase: WrongPort });
  // @ts-expect-error no port has this name
  route('GET', '/x', { summary: null, ...spec, useCase: UnknownPort });
  // @ts-expect-error a class is another one
  route('GET', '/x', { summary: null, ...spec, useCase: WrongClass });
  // @ts-expect-error `inject` is missing
  route('GET', '/x', { summary: null, ...spec, useCase: Undeclared });
  // @ts-expect-error a dependency injects the wrong things itself
  route('GET', '/x', { summary: null, ...spec, useCase: OfWrong });
  // @ts-expect-error the same check applies to handlers
  route('GET', '/x', { summary: null, ...spec, useCase: Swapped, handle });
});

it('resolve does not accept a class with wrong dependencies', () => {
  const resolve: Resolve = (type) => type as never;
  resolve(Right);
  // @ts-expect-error two dependencies are swapped
  resolve(Swapped);
  // @ts-expect-error a dependency is missing
  resolve(Missing);
  // @ts-expect-error a dependency injects the wrong things itself
  resolve(OfWrong);
  expect(resolve(ByName)).toBe(ByName);
});

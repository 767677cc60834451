import type { Injectable, Wired } from '@parley/domain/composition';
import type { AnyEvent, Caller, SnapshotLoader, UserRow } from '@parley/domain/kernel';
import { type EventPresenter, form, toAll } from '../delivery/event-presenter.js';
import { YieldingScheduler } from '../limits/yielding.js';
import { PresentedList, presentLongList } from '../params/json-lists.js';
import { type Dto, IntegerParam, NoParameters, type ParamOptions } from '../params/params.js';
import type { WireFields } from '../wire/reply.js';
import type { Request } from '../wire/request.js';
import * as wire from '../wire/schema.js';
import type { ContractSection, WithoutPage } from './operation.js';
import { type RegisterSection, registerSection } from './register-section.js';
import { type Method, type RoleRequirement, type Route, route } from './route.js';

interface WireListRules<Row extends UserRow> {
  /** Name of the path, of the section of the register response and of the events: `saved_snippets`. */
  readonly name: string;
  /** Name of an element in events: `saved_snippet`. `saved_snippet_id` is its id in paths and responses. */
  readonly element: string;
  /** Name of an element in summaries. */
  readonly noun: string;
  /** True if an event with new elements has a list of them. */
  readonly addsLists?: boolean;
  readonly schema: wire.WireSchema<object>;
  readonly present: (row: Row) => WireFields;
  readonly section: ContractSection;
  readonly roleRequirements?: readonly RoleRequirement[];
}

/** Differences from the usual documentation of a route. */
interface Docs {
  readonly summary?: string;
  readonly section?: ContractSection;
  readonly isStarred?: boolean;
  readonly withoutPage?: WithoutPage;
}

type UseCase<I, O> = Injectable<{ execute(caller: Caller, input: I): Promise<O> }>;
type ToInput<D, I> = (dto: D, request: Request, caller: Caller) => NoInfer<I>;

/** Wire form of a `PersonalList`: its events, register section and usual routes. */
export class WireList<Row extends UserRow> {
  private readonly scheduler = new YieldingScheduler();
  private readonly id: string;

  constructor(private readonly rules: WireListRules<Row>) {
    this.id = `${rules.element}_id`;
  }

  added<E extends AnyEvent>(rowsOf: (event: E) => readonly Row[]): EventPresenter<E> {
    const { name, element, schema, present, addsLists } = this.rules;
    const shape = addsLists ? { [name]: wire.listOf(schema) } : { [element]: schema };
    return toAll(form(name, { op: wire.oneOf('add'), ...shape }), (event) => {
      const rows = rowsOf(event).map(present);
      return { op: 'add', ...(addsLists ? { [name]: rows } : { [element]: rows[0] }) };
    });
  }

  changed<E extends AnyEvent>(rowOf: (event: E) => Row): EventPresenter<E> {
    const { name, element, schema, present } = this.rules;
    return toAll(form(name, { op: wire.oneOf('update'), [element]: schema }), (event) => ({
      op: 'update',
      [element]: present(rowOf(event)),
    }));
  }

  removed<E extends AnyEvent & { readonly id: number }>(): EventPresenter<E> {
    return toAll(form(this.rules.name, { op: wire.oneOf('remove'), [this.id]: wire.integer() }), ({ id }) => ({
      op: 'remove',
      [this.id]: id,
    }));
  }

  registerSection(load: SnapshotLoader<readonly Row[]>): RegisterSection {
    const { name, schema, present } = this.rules;
    return registerSection({
      name,
      fields: { [name]: wire.listOf(schema) },
      forSpectators: { [name]: [] },
      load: (snapshot) => snapshot.load(load),
      present: (rows) => ({ [name]: new PresentedList(rows, present) }),
    });
  }

  /** `count`: name of a field with the number of elements. */
  listRoute<C extends Injectable>(
    useCase: Injectable<{ execute(caller: Caller): Promise<readonly Row[]> }> & C & Wired<C>,
    { count, ...docs }: Docs & { readonly count?: string } = {},
  ): Route {
    const { name, noun, schema, present } = this.rules;
    const fieldsFor = <T>(value: T) => (count === undefined ? {} : { [count]: value });
    return this.route('GET', `/${name}`, `List ${noun}s`, docs, {
      dto: NoParameters,
      useCase,
      response: wire.fields({ ...fieldsFor(wire.integer()), [name]: wire.listOf(schema) }),
      present: (rows: readonly Row[]) =>
        presentLongList(this.scheduler, name, new PresentedList(rows, present), fieldsFor(rows.length)),
    });
  }

  createRoute<D extends object, I, C extends Injectable>(
    useCase: UseCase<I, Row['id']> & C & Wired<C>,
    dto: Dto<D>,
    toInput: ToInput<D, I>,
    docs: Docs = {},
  ): Route {
    return this.route('POST', `/${this.rules.name}`, `Create a ${this.rules.noun}`, docs, {
      dto,
      useCase,
      toInput,
      response: wire.fields({ [this.id]: wire.integer() }),
      present: (id: Row['id']) => ({ [this.id]: id }),
    });
  }

  changeRoute<D extends object, I, C extends Injectable>(
    useCase: UseCase<I, void> & C & Wired<C>,
    dto: Dto<D>,
    toInput: ToInput<D, I>,
    docs: Docs = {},
  ): Route {
    return this.route('PATCH', this.elementPath, `Change a ${this.rules.noun}`, docs, { dto, useCase, toInput });
  }

  deleteRoute<C extends Injectable>(
    useCase: UseCase<{ readonly id: Row['id'] }, void> & C & Wired<C>,
    { id, ...docs }: Docs & { readonly id?: ParamOptions } = {},
  ): Route {
    class ElementDto {}
    IntegerParam(id)(ElementDto.prototype, this.id);
    return this.route('DELETE', this.elementPath, `Delete a ${this.rules.noun}`, docs, {
      dto: ElementDto,
      useCase,
      toInput: (dto: Readonly<Record<string, number>>) => ({ id: dto[this.id] }),
    });
  }

  private get elementPath(): string {
    return `/${this.rules.name}/:${this.id}`;
  }

  /** `spec` was checked by the types of the public methods. */
  private route(method: Method, path: string, summary: string, docs: Docs, spec: object): Route {
    const { section, roleRequirements = [] } = this.rules;
    return route(method, path, {
      auth: 'user',
      scope: 'account',
      roleRequirements,
      summary,
      section,
      ...docs,
      ...spec,
    } as never);
  }
}

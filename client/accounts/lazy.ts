// Lazy views of accounts: objects with a getter for each field, so that a reader of one field pays for one field.

import { type LayoutType, plainReader, type Read, type StructLayout, sizeOf } from '../../schemas/portable.ts';
import { CLIENT_STYLE, camelCase } from './style.ts';

/** A list of an account whose members are read when they are asked for. */
export class LazyList<T> implements Iterable<T> {
  readonly length: number;
  readonly #read: (index: number) => T;

  constructor(length: number, read: (index: number) => T) {
    this.length = length;
    this.#read = read;
  }

  /** The member at an index; undefined beyond the end. */
  at(index: number): T | undefined {
    return index >= 0 && index < this.length ? this.#read(index) : undefined;
  }

  *[Symbol.iterator](): Iterator<T> {
    for (let index = 0; index < this.length; index += 1) yield this.#read(index);
  }
}

/** The lazy form of a decoded type: lists of structs are LazyLists, all else has the same type. */
export type Lazy<T> = { readonly [K in keyof T]: LazyMember<T[K]> };

type LazyMember<T> = T extends readonly (infer E)[]
  ? E extends object
    ? E extends Uint8Array
      ? T
      : LazyList<Lazy<E>>
    : T
  : T extends Uint8Array
    ? T
    : T extends object
      ? Lazy<T>
      : T;

/** Compiles the constructor of views of a struct. Each layout has one class, so that engines see one shape. */
export function lazyReader(layout: StructLayout): Read<object> {
  class StructView {
    readonly #view: DataView;
    readonly #at: number;

    constructor(view: DataView, at: number) {
      this.#view = view;
      this.#at = at;
    }

    static value(of: StructView, read: Read<unknown>, offset: number): unknown {
      return read(of.#view, of.#at + offset);
    }
  }
  for (const { name, offset, type } of layout.fields) {
    const read = lazyType(type);
    Object.defineProperty(StructView.prototype, camelCase(name), {
      enumerable: true,
      get(this: StructView) {
        return StructView.value(this, read, offset);
      },
    });
  }
  return (view, at) => new StructView(view, at);
}

function lazyType(type: LayoutType): Read<unknown> {
  if (type.kind === 'struct') return lazyReader(type.layout);
  if (type.kind !== 'array' || type.element.kind !== 'struct') return plainReader(type, CLIENT_STYLE);
  const element = lazyReader(type.element.layout);
  const size = sizeOf(type.element);
  return (view, at) => new LazyList(type.length, (index) => element(view, at + index * size));
}

import { InvalidArgumentError } from '@eagre/backend';
import { describe, expect, it } from 'vitest';
import { ClusterSpec, parseAddress } from './cluster-spec.ts';
import { expandHostlist, expandTasks, mpiConfig, parseTFConfig, slurmConfig } from './tf-config.ts';

const config = (cluster: unknown, task?: unknown): string => JSON.stringify({ cluster, task });

describe('TF_CONFIG', () => {
  it('names the processes, the chief first', () => {
    const { cluster, type, index } = parseTFConfig(
      config({ worker: ['b:2', 'c:3'], chief: ['a:1'], ps: ['p:1'] }, { type: 'worker', index: 1 }),
    );
    expect([type, index]).toEqual(['worker', 1]);
    expect(cluster.members).toEqual([
      { type: 'chief', index: 0, address: 'a:1' },
      { type: 'worker', index: 0, address: 'b:2' },
      { type: 'worker', index: 1, address: 'c:3' },
    ]);
    expect(cluster.numTasks('ps')).toBe(1);
  });
  it('may be absent, or without a cluster', () => {
    for (const text of [undefined, '', '{}', config({}), config({}, { type: 'worker', index: 0 })])
      expect(parseTFConfig(text)).toMatchObject({ type: null, index: null });
  });
  it('takes an index as a text and an evaluator that is not listed', () => {
    expect(parseTFConfig(config({ worker: ['a:1', 'b:1'] }, { type: 'worker', index: '1' })).index).toBe(1);
    expect(parseTFConfig(config({ worker: ['a:1'] }, { type: 'evaluator', index: 0 })).type).toBe(
      'evaluator',
    );
    expect(
      parseTFConfig(config({ worker: { 0: 'a:1', 1: 'b:1' } }, { type: 'worker', index: 1 })).index,
    ).toBe(1);
  });
  it.each([
    ['not JSON', '{'],
    ['a list', '[]'],
    ['a cluster that is a list', config([])],
    ['an unknown type', config({ master: ['a:1'] }, { type: 'master', index: 0 })],
    ['two chiefs', config({ chief: ['a:1', 'b:1'] }, { type: 'chief', index: 0 })],
    ['two evaluators', config({ evaluator: ['a:1', 'b:1'] }, { type: 'evaluator', index: 0 })],
    ['no task', config({ worker: ['a:1'] })],
    ['an index beyond', config({ worker: ['a:1'] }, { type: 'worker', index: 1 })],
    ['a negative index', config({ worker: ['a:1'] }, { type: 'worker', index: -1 })],
    ['a fraction', config({ worker: ['a:1'] }, { type: 'worker', index: 0.5 })],
    ['a type that is not there', config({ worker: ['a:1'] }, { type: 'chief', index: 0 })],
    ['an address without a port', config({ worker: ['a'] }, { type: 'worker', index: 0 })],
    ['a port beyond', config({ worker: ['a:70000'] }, { type: 'worker', index: 0 })],
    ['a number as an address', config({ worker: [1] }, { type: 'worker', index: 0 })],
    ['a text as a list', config({ worker: 'a:1' }, { type: 'worker', index: 0 })],
    ['a gap', config({ worker: { 0: 'a:1', 2: 'b:1' } }, { type: 'worker', index: 0 })],
  ])('refuses %s', (_, text) => {
    expect(() => parseTFConfig(text)).toThrow(InvalidArgumentError);
  });
  it('reads addresses of both families', () => {
    expect(() => parseAddress('fe80::1%eth0:80')).toThrow(/needs brackets, such as \[fe80::1%eth0\]:80/);
    expect(() => parseAddress('::1:4000')).toThrow(/needs brackets, such as \[::1\]:4000/);
    expect(() => parseAddress('x:y:4000')).toThrow(/must be host:port, got 'x:y:4000'$/);
    expect(parseAddress('[::1]:80')).toEqual({ host: '::1', port: 80 });
    expect(parseAddress('node-1.local:8080')).toEqual({ host: 'node-1.local', port: 8080 });
    expect(() => new ClusterSpec({ worker: ['::1:80'] })).toThrow(InvalidArgumentError);
  });
});

describe('launchers', () => {
  it('Open MPI and PMI tell ranks', () => {
    for (const env of [
      { OMPI_COMM_WORLD_RANK: '1', OMPI_COMM_WORLD_SIZE: '3' },
      { PMI_RANK: '1', PMI_SIZE: '3' },
    ]) {
      const found = mpiConfig({ ...env, EAGRE_COORDINATOR: 'head:4000' });
      expect(found).toMatchObject({ type: 'worker', index: 1 });
      expect(found?.cluster.members.map(({ address }) => address)).toEqual(['head:4000', '', '']);
    }
    expect(mpiConfig({})).toBeUndefined();
    expect(mpiConfig({ PMI_RANK: '0', PMI_SIZE: '1' })?.type).toBeNull();
    for (const PMI_RANK of ['', 'x', '-1', '3'])
      expect(() => mpiConfig({ PMI_RANK, PMI_SIZE: '3' })).toThrow(InvalidArgumentError);
  });
  it('Slurm tells nodes', () => {
    const env = {
      SLURM_PROCID: '3',
      SLURM_STEP_NODELIST: 'n[01-02],x',
      SLURM_STEP_TASKS_PER_NODE: '2(x2),1',
    };
    const found = slurmConfig(env);
    expect(found).toMatchObject({ type: 'worker', index: 3 });
    expect(found?.cluster.jobs.worker).toEqual(['n01:8888', 'n01:8889', 'n02:8888', 'n02:8889', 'x:8888']);
    const jobs = slurmConfig(env, { portBase: 9000, jobs: { chief: 1, worker: 4 } });
    expect(jobs).toMatchObject({ type: 'worker', index: 2 });
    expect(jobs?.cluster.jobs.chief).toEqual(['n01:9000']);
    expect(slurmConfig({})).toBeUndefined();
    expect(() => slurmConfig(env, { jobs: { worker: 4 } })).toThrow(InvalidArgumentError);
    expect(() => slurmConfig({ ...env, SLURM_PROCID: '9' })).toThrow(InvalidArgumentError);
    expect(() => slurmConfig({ ...env, SLURM_STEP_TASKS_PER_NODE: '2(x2' })).toThrow(InvalidArgumentError);
  });
  it('expands lists', () => {
    expect(expandHostlist('a[1-3,07],b')).toEqual(['a1', 'a2', 'a3', 'a07', 'b']);
    expect(expandTasks('1,2(x2)')).toEqual([1, 2, 2]);
    for (const text of ['', 'a[', 'a[3-1]', 'a[x]', 'a[1-99999999]'])
      expect(() => expandHostlist(text)).toThrow();
  });
});

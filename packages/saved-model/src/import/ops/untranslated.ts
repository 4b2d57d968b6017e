// Why ops of TensorFlow are not translated: every op of its registry is either in a table or here.

/** The reason for one op, or for those whose names match. */
type Reason = readonly [names: RegExp, why: string];

const REASONS: readonly Reason[] = [
  [
    /^(CholeskyGrad|SelfAdjointEig|Batch(Cholesky|Matrix|SelfAdjoint|Svd|I?FFT|Norm).*|AdjustContrast|RandomCrop|Conv3DBackprop(Input|Filter)|StatefulStandardNormal)$/,
    'it is deprecated in TensorFlow',
  ],
  [
    /^(MatchingFiles|ReadFile|WriteFile|WholeFileReader.*)$/,
    'it is of files of the machine that it runs on, which are no part of the model: read them with tf.io, and give the function what they hold',
  ],
  [
    /^(Merge|RefMerge|Exit|RefExit|NextIteration|RefNextIteration)$/,
    'it stands outside of a branch or loop of TensorFlow 1 of the usual form',
  ],
  [
    /^(SaveV?2?|SaveSlices|MergeV2Checkpoints|ShardedFilename|ShardedFilespec|Restore|RestoreSlice|CheckpointHasTensor|DistributedSave|LoadAndRemapMatrix|DisableCopyOnRead)$/,
    'graphs write no files here: use tf.train.Checkpoint or tf.savedModel.save',
  ],
  [
    /Dataset|Iterator|^Optional|ThreadPoolHandle|StatsAggregator|MultiDevice|DatasetToGraph|ModelDataset|SqlDataset|^(ComputeBatchSize|CompressElement|UncompressElement|GetElementAtIndex|GetOptions|WindowOp|AnonymousSeedGenerator|AnonymousRandomSeedGenerator|DeleteSeedGenerator|DeleteRandomSeedGenerator|DummySeedGenerator|DummyIterationCounter|AnonymousMemoryCache|DeleteMemoryCache|DummyMemoryCache|DataServiceDatasetV?\d?|RegisterDataset.*|SnapshotNestedDatasetReader|InitializeTableFromDataset)$/,
    'it is part of a tf.data pipeline: write the pipeline with tf.data',
  ],
  [
    /^(Parse|DecodeProto|EncodeProto|DecodeCSV|DecodeJSON|DecodeRaw|DecodePadded|DecodeCompressed|SerializeTensor|ParseTensor|SerializeMany|DeserializeMany|SerializeSparse|DeserializeSparse|SerializeIterator|DeserializeIterator|SerializeTRT)|(Reader|ReaderV2)$|^Reader|^(ReadFile|WriteFile|MatchingFiles|WholeFile.*|IdentityReader.*|LMDBReader|TextLineReader.*|TFRecordReader.*|FixedLengthRecordReader.*|FileSystemSetConfiguration|ImportEvent|RecordInput)$|Summary|Event$/,
    'files and records are read and written outside of graphs: see tf.io, tf.data and tf.summary',
  ],
  [
    /^(Decode|Encode)(Image|Jpeg|Png|Gif|Bmp|WebP|AndCropJpeg|Wav)|Jpeg|JPEG/,
    'there is no such op of files of images: see tf.io',
  ],
  [/^(Decode|Encode)/, 'such bytes are decoded outside of graphs: see tf.io'],
  [
    /Sparse|^(ConvertToCooTensor|CTC.*|AddManySparse.*|TakeManySparse.*)$/,
    'it takes or gives sparse tensors in a way that is not supported',
  ],
  [
    /Ragged|StringSplit$|StringNGrams|UnsortedSegmentJoin|StringToHash|Fingerprint|StringToKeyed/,
    'it takes or gives text or ragged tensors in a way that is not supported',
  ],
  [
    /^Quantiz|Quantize|Quant[A-Z]|Requant|^Dequantize|FakeQuant|^Uniform(Quant|Dequant|Requant)|Calibration|CustomAggregator/,
    'quantized graphs are not supported: export the model in float32',
  ],
  [
    /TPU|Tpu|XLA|Xla|xla|^Prelinearize|^Infeed|^Outfeed|Embedding(Activations|.*Gradients|.*Parameters)|MinibatchS|Minibatches|Minibatch|SparseCore|DedupData|DTensor|CopyToMesh|Relayout|Collective|Nccl|CrossReplicaSum|AllToAll|RemoteCall|^Rpc|RpcFuture|^Risc|WorkerHeartbeat|ConfigureDistributed|ShutdownDistributed|ConfigureAndInitialize|WaitForDistributed|GlobalIterId|UpdateTaskIdAndGlobalCoreArray|SyncDevice|CheckPinned|CopyHost|^Copy(Op)?$|^(Send|Recv|_.*|HostConst|IsTensorFloat32Enabled)$|TRT|TensorRT|MakeUnique|TopKUnique|TopKWithUnique|KthOrderStatistic|ApproxTopK|StochasticCast|Cudnn|Mkl|DeviceIndex/,
    'it is of another device, or of several machines',
  ],
  [
    /Queue|Stage|Unstage|Barrier|Mutex|MapPeek|MapSize|MapClear|MapIncompleteSize|OrderedMap|Stack(V2)?$|^Stack|ConditionalAccumulator|Accumulator|^Batch$|^Unbatch|SessionHandle|SessionTensor|TensorMap/,
    'it belongs to queues, stacks or servers of TensorFlow',
  ],
  [
    /Boosted|Forest|^Sdca|CandidateSampler|Skipgram|KMC2|Kmeans|GenerateVocabRemapping|NegTrain|^Record|DecisionTree/,
    'it belongs to training methods that Eagre does not have',
  ],
  [/BoundingBox|AudioMicrofrontend|^Conv.*V2$/, 'there is no such op of images or signals'],
  [/TensorArray|TensorList/, 'it is an old or a rare form of lists'],
  [
    /Scatter|InplaceUpdate|InplaceAdd|InplaceSub|CountUpTo|TemporaryVariable|ResourceAccumulator|InitializedOp|ImmutableConst|DebugGradient|ResourceCreateOp|ResourceUsingOp|MakeWeakResourceHandle/,
    'variables and tables are not changed in this way here',
  ],
  [
    /^(LSTMBlockCell|BlockLSTM|GRUBlockCell)Grad/,
    'cells that are one op are only run, not trained: export the model without fused cells',
  ],
  [
    /PyFunc|MapDefun|Composite|Print|Debug|Dump|Abort|Sleep|Stub|Deadline|Timestamp|RefSelect|GraphDefVersion|Mlir|FuncAttr|DevicePlacement|Assign.*(Grad)|ReadVariableXla|Eager/,
    'it is of Python, or of the tools around TensorFlow',
  ],
  [/^TileGrad$/, 'it is deprecated in TensorFlow'],
];

/** Why an op is not translated; undefined for one that TensorFlow does not have either. */
export function whyNot(op: string): string | undefined {
  return REASONS.find(([names]) => names.test(op))?.[1];
}
